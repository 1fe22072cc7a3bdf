#include "engine/trial/trial.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <stdexcept>

#include "engine/sync/spinlock.h"
#include "engine/trial/sleep_until.h"

namespace vsb::engine::trial {
namespace {

constexpr std::uint64_t kLong = 600'000'000'000;  // ns: sanitizers on a busy machine

bool has(const std::vector<Warning>& warnings, const std::string& code) {
    return std::any_of(warnings.begin(), warnings.end(),
                       [&](const Warning& warning) { return warning.code == code; });
}

TEST(Trial, RolesRunOnThreadsOfTheirOwnBetweenTheirHooks) {
    std::vector<Warning> warnings;
    std::mutex mutex;
    std::vector<std::string> order;
    std::set<pid_t> tids;
    auto note = [&](const std::string& what, pid_t tid) {
        const std::lock_guard hold(mutex);
        order.push_back(what);
        tids.insert(tid);
    };
    Trial trial(kLong, {});
    trial.add({"worker",
               {},
               [&](pid_t tid) { note("starts", tid); },
               [&](pid_t tid) { note("ends", tid); },
               [&](Task&) { note("body", gettid()); }});
    trial.run(false, warnings);
    EXPECT_EQ(trial.failure(), "");
    EXPECT_EQ(order, (std::vector<std::string>{"starts", "body", "ends"}));
    EXPECT_EQ(tids.size(), 1U);
    EXPECT_EQ(tids.count(gettid()), 0U);
}

TEST(Trial, ASleepingRoleIsWokenByTheDeadline) {
    std::vector<Warning> warnings;
    WaitQueue queue;
    Trial trial(1'000'000, {});
    trial.add({"sleeper", {}, {}, {}, [&](Task& task) {
                   sleep_until(queue, task, [] { return false; });
               }});
    trial.run(false, warnings);
    EXPECT_EQ(trial.failure().substr(0, 9), "deadline:");
}

TEST(Trial, StopInterruptsAndAThrowingRoleIsAFailure) {
    std::vector<Warning> warnings;
    int polls = 0;
    Trial stopped(kLong, [&] { return ++polls == 3; });
    stopped.add({"spinner", {}, {}, {}, [&](Task&) {
                     while (!stopped.ended())
                         cpu_relax();
                 }});
    stopped.run(false, warnings);
    EXPECT_EQ(stopped.failure(), "interrupted");
    EXPECT_EQ(polls, 3);

    Trial thrown(kLong, {});
    thrown.add({"worker", {}, {}, {}, [](Task&) { throw std::runtime_error("out of order"); }});
    thrown.add({"spinner", {}, {}, {}, [&](Task&) {
                    while (!thrown.ended())
                        cpu_relax();
                }});
    thrown.run(false, warnings);
    EXPECT_EQ(thrown.failure(), "the worker: out of order");
}

TEST(Trial, ARefusedCpuAndAThrowingHookKeepTheBodyFromRunning) {
    std::vector<Warning> warnings;
    std::atomic<int> bodies{0};
    Trial refused(kLong, {});
    refused.add({"worker", 100'000, {}, {}, [&](Task&) { ++bodies; }});
    refused.add({"receiver", {}, {}, {}, [&](Task&) { ++bodies; }});
    refused.run(false, warnings);
    EXPECT_NE(refused.failure().find("pinning the worker: there is no CPU 100000"),
              std::string::npos)
        << refused.failure();

    Trial hook(kLong, {});
    hook.add({"worker",
              {},
              [](pid_t) { throw std::runtime_error("no counters"); },
              {},
              [&](Task&) { ++bodies; }});
    hook.run(false, warnings);
    EXPECT_EQ(hook.failure(), "the worker: no counters");
    EXPECT_EQ(bodies, 0);
}

TEST(Trial, SaysWhenThreadsShareCpus) {
    std::vector<Warning> warnings;
    Trial trial(kLong, {});
    for (int i = 0; i < 2; ++i)
        trial.add({"worker", 0, {}, {}, [](Task&) {}});
    trial.run(true, warnings);
    EXPECT_TRUE(has(warnings, "shared-cpu"));
    EXPECT_TRUE(has(warnings, "idle-poll"));
    EXPECT_EQ(trial.failure(), "");

    warnings.clear();
    Trial many(kLong, {});
    for (unsigned i = 0; i <= std::thread::hardware_concurrency(); ++i)
        many.add({"sender", {}, {}, {}, [](Task&) {}});
    many.run(false, warnings);
    EXPECT_TRUE(has(warnings, "oversubscribed"));
}

// Two threads hand a turn to and fro, each sleeping for its own: a wake that is lost hangs, which
// the deadline turns into a failure.
TEST(SleepUntil, NoWakeIsLostAndOneSleepIsOneWake) {
    constexpr int kTurns = 2000;
    std::vector<Warning> warnings;
    WaitQueue queue[2];
    std::atomic<int> turn{0};
    std::uint64_t slept[2] = {0, 0};
    std::uint64_t woken[2] = {0, 0};
    Trial trial(kLong, {});
    for (int me = 0; me < 2; ++me) {
        trial.add({"player", {}, {}, {}, [&, me](Task& task) {
                       for (int i = 0; i < kTurns && !trial.ended(); ++i) {
                           slept[me] +=
                               sleep_until(queue[me], task, [&] { return turn.load() == me; });
                           turn.store(1 - me);
                           if (queue[1 - me].has_sleeper()) {
                               woken[me] += queue[1 - me].wake_up().system_calls;
                           }
                       }
                   }});
    }
    trial.run(false, warnings);
    EXPECT_EQ(trial.failure(), "");
    EXPECT_EQ(slept[0], woken[1]);
    EXPECT_EQ(slept[1], woken[0]);
    EXPECT_GT(slept[0] + slept[1], 0U);
    EXPECT_FALSE(queue[0].has_sleeper() || queue[1].has_sleeper());
}

// Sleepers that queue themselves again as soon as they are woken are woken once, not for as long as
// the waker keeps looking.
TEST(SleepUntil, OneWakeUpWakesEachSleeperOnce) {
    constexpr unsigned kSleepers = 20;
    std::vector<Warning> warnings;
    WaitQueue queue;
    std::atomic<bool> done{false};
    std::atomic<unsigned> asleep{0};
    Woken woken;
    Trial trial(kLong, {});
    for (unsigned i = 0; i < kSleepers; ++i) {
        trial.add({"sleeper", {}, {}, {}, [&](Task& task) {
                       ++asleep;
                       sleep_until(queue, task, [&] { return done.load(); });
                   }});
    }
    trial.add({"waker", {}, {}, {}, [&](Task&) {
                   while (asleep < kSleepers)
                       sched_yield();
                   for (int i = 0; i < 100; ++i) {
                       const Woken now = queue.wake_up();
                       if (now.tasks > woken.tasks) woken = now;
                       sched_yield();
                   }
                   done.store(true);
                   queue.wake_up();
               }});
    trial.run(false, warnings);
    EXPECT_EQ(trial.failure(), "");
    EXPECT_LE(woken.tasks, kSleepers);
    EXPECT_GT(woken.tasks, 0U);
}

}  // namespace
}  // namespace vsb::engine::trial
