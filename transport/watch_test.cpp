#include "transport/watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "transport/errors.h"
#include "transport/pin.h"
#include "transport/testing/faulty_calls.h"
#include "transport/workers.h"

namespace vsb::transport {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Fake {
    std::uint64_t now = 1000;
    testing::FaultyCalls calls;
    std::vector<Progress> progress{2};
    Fake() {
        calls.clock = [this] { return now; };
    }
};

TEST(Watch, AStallIsAFailureThatNamesThePeer) {
    Fake fake;
    Watch watch(fake.calls, {.stall_ns = 2000000000, .peer = "the peer"}, fake.progress, nullptr);
    watch.start();
    fake.progress[1].bytes = 7;
    fake.now += 1900000000;
    EXPECT_TRUE(watch.look());
    fake.now += 1900000000;
    EXPECT_TRUE(watch.look()) << "a byte moved before";
    fake.now += 100000000;
    EXPECT_FALSE(watch.look());
    EXPECT_EQ(watch.failure(), "no byte moved for 2.0 s after 7 bytes; peer: the peer");
}

TEST(Watch, TheEndOfATimedRunIsNoFailure) {
    Fake fake;
    Watch watch(fake.calls, {.stall_ns = 5000, .duration_ns = 100, .peer = ""}, fake.progress,
                nullptr);
    watch.start();
    fake.now += 99;
    EXPECT_TRUE(watch.look());
    fake.now += 1;
    EXPECT_FALSE(watch.look());
    EXPECT_EQ(watch.failure(), std::nullopt);
}

TEST(Watch, IntervalsAreOverTheirTrueTime) {
    Fake fake;
    std::vector<double> seen;
    Watch watch(fake.calls, {.interval_ns = 1000, .peer = ""}, fake.progress, nullptr,
                [&](double, double gbit_s) { seen.push_back(gbit_s); });
    watch.start();
    fake.progress[0].bytes = 500;
    fake.now += 999;
    watch.look();
    fake.now += 1001;
    watch.look();  // 500 bytes in 2000 ns
    fake.progress[0].bytes = 1500;
    fake.now += 1000;
    watch.look();
    EXPECT_THAT(seen, ElementsAre(2.0, 8.0));
    EXPECT_EQ(watch.intervals_gbit_s(), seen);
}

TEST(Workers, OneRunsOnTheCallingThreadAndIsInterruptedByTheWatch) {
    std::vector<Progress> progress(1);
    Watch watch(system_calls(), {.stall_ns = 1, .peer = "x"}, progress, nullptr);
    const auto self = std::this_thread::get_id();
    EXPECT_THROW(run_workers({}, progress, watch,
                             [&](unsigned, Progress& own, const Attend& attend) {
                                 EXPECT_EQ(std::this_thread::get_id(), self);
                                 // A call that would block for ever ends in EINTR.
                                 while (own.attention == Attention::none) {
                                     EXPECT_EQ(::poll(nullptr, 0, 20000), -1);
                                 }
                                 EXPECT_FALSE(attend());
                             }),
                 Failure);
}

TEST(Workers, SeveralRunAtOnceAndStopTogether) {
    std::vector<Progress> progress(3);
    Watch watch(system_calls(), {.stall_ns = 1, .peer = "x"}, progress, nullptr);
    WorkerPlan plan;
    plan.workers = 3;
    int interrupted = 0;
    plan.interrupt = [&] { ++interrupted; };
    EXPECT_THROW(run_workers(plan, progress, watch,
                             [&](unsigned, Progress& own, const Attend& attend) {
                                 while (own.attention == Attention::none)
                                     std::this_thread::yield();
                                 EXPECT_FALSE(attend());
                             }),
                 Failure);
    EXPECT_EQ(interrupted, 1);
}

TEST(Workers, AnExceptionOfOneStopsTheOthersAndIsThrownAgain) {
    std::vector<Progress> progress(2);
    Watch watch(system_calls(), {}, progress, nullptr);
    WorkerPlan plan;
    plan.workers = 2;
    EXPECT_THROW(run_workers(plan, progress, watch,
                             [&](unsigned i, Progress& own, const Attend&) {
                                 if (i == 1) throw std::out_of_range("one");
                                 while (own.attention == Attention::none)
                                     std::this_thread::yield();
                             }),
                 std::out_of_range);
}

TEST(Workers, ACpuThatIsNotThereIsAnError) {
    EXPECT_THROW(check_cpus_allowed({65535}), UsageError);
    std::thread([] { EXPECT_THROW(pin_this_thread(65535), UsageError); }).join();
}

TEST(Pin, PinsTheThreadAndSeesThatItWasMoved) {
    std::thread([] {
        cpu_set_t before;
        ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
        int cpu = 0;
        while (!CPU_ISSET(cpu, &before))
            ++cpu;
        pin_this_thread(cpu);
        EXPECT_EQ(::sched_getcpu(), cpu);
        EXPECT_NO_THROW(check_pinned(cpu));
        if (CPU_COUNT(&before) > 1) {
            ASSERT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
            EXPECT_THROW(check_pinned(cpu), Failure);
        }
    }).join();
}

}  // namespace
}  // namespace vsb::transport
