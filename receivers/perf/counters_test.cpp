#include "receivers/perf/counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <vector>

#include "receivers/perf/perf_calls.h"

namespace vsb::perf {
namespace {

using ::testing::HasSubstr;

// A machine with counters: cycles and instructions advance by fixed steps while enabled.
class FakePerf : public PerfCalls {
  public:
    std::map<std::uint64_t, int> open_errors;  // by config
    std::uint64_t cycles = 3000, instructions = 4000;
    std::uint64_t enabled_ns = 1000, running_ns = 1000;
    int read_error = 0, enable_error = 0, disable_error = 0;
    bool end_of_file = false;
    int interruptions = 0;  // reads that end in EINTR before one succeeds

    struct Opened {
        std::uint64_t config;
        bool disabled;
        pid_t pid;
        int cpu;
        int group;
    };
    std::vector<Opened> opened;
    std::vector<int> closed;

    int open(perf_event_attr& attr, pid_t pid, int cpu, int group_fd) override {
        if (const auto it = open_errors.find(attr.config); it != open_errors.end()) {
            return fail(it->second);
        }
        EXPECT_EQ(attr.type, std::uint32_t{PERF_TYPE_HARDWARE});
        EXPECT_EQ(attr.exclude_kernel, 0u) << "the receive path is in the kernel";
        opened.push_back({attr.config, attr.disabled != 0, pid, cpu, group_fd});
        return 100 + static_cast<int>(opened.size()) - 1;
    }

    int control(int fd, unsigned long request) override {
        EXPECT_EQ(fd, 100) << "a group is switched through its leader";
        if (request == PERF_EVENT_IOC_ENABLE) {
            if (enable_error != 0) return fail(enable_error);
            enabled_ = true;
        }
        if (request == PERF_EVENT_IOC_DISABLE) {
            if (disable_error != 0) return fail(disable_error);
            if (enabled_) ++rounds_;
            enabled_ = false;
        }
        return 0;
    }

    ssize_t read(int fd, void* buffer, std::size_t size) override {
        EXPECT_EQ(fd, 100);
        if (interruptions > 0) {
            --interruptions;
            return fail(EINTR);
        }
        if (read_error != 0) return fail(read_error);
        if (end_of_file) return 0;
        std::vector<std::uint64_t> words = {opened.size(), rounds_ * enabled_ns,
                                            rounds_ * running_ns};
        for (const Opened& event : opened) {
            words.push_back(rounds_ *
                            (event.config == PERF_COUNT_HW_CPU_CYCLES ? cycles : instructions));
        }
        const std::size_t bytes = words.size() * sizeof(std::uint64_t);
        if (bytes > size) return fail(ENOSPC);
        std::memcpy(buffer, words.data(), bytes);
        return static_cast<ssize_t>(bytes);
    }

    void close(int fd) override { closed.push_back(fd); }

  private:
    static int fail(int error) {
        errno = error;
        return -1;
    }
    bool enabled_ = false;
    std::uint64_t rounds_ = 0;
};

TEST(Group, CountsOneThreadAsOneGroup) {
    FakePerf fake;
    {
        Group group = Group::of_thread(77, fake);
        group.start();
        const Counts counts = group.stop();
        EXPECT_EQ(counts.cycles.value, 3000u);
        EXPECT_EQ(counts.instructions.value, 4000u);
    }
    ASSERT_EQ(fake.opened.size(), 2u);
    EXPECT_TRUE(fake.opened[0].disabled);
    EXPECT_FALSE(fake.opened[1].disabled);
    EXPECT_EQ(fake.opened[0].pid, 77);
    EXPECT_EQ(fake.opened[0].cpu, -1);
    EXPECT_EQ(fake.opened[0].group, -1);
    EXPECT_EQ(fake.opened[1].group, 100);
    EXPECT_THAT(fake.closed, ::testing::ElementsAre(101, 100));
}

TEST(Group, CountsOneCpu) {
    FakePerf fake;
    Group group = Group::of_cpu(3, fake);
    ASSERT_EQ(fake.opened.size(), 2u);
    EXPECT_EQ(fake.opened[0].pid, -1);
    EXPECT_EQ(fake.opened[0].cpu, 3);
}

TEST(Group, EveryRoundIsCountedByItself) {
    FakePerf fake;
    Group group = Group::of_thread(0, fake);
    for (int round = 0; round < 3; ++round) {
        group.start();
        EXPECT_EQ(group.stop().cycles.value, 3000u);
    }
}

TEST(Group, DeniedCountersAreReasonsNotZeros) {
    FakePerf fake;
    fake.open_errors = {{PERF_COUNT_HW_CPU_CYCLES, EACCES}, {PERF_COUNT_HW_INSTRUCTIONS, EACCES}};
    Group group = Group::of_thread(0, fake);
    group.start();
    const Counts counts = group.stop();
    EXPECT_FALSE(counts.cycles.value);
    EXPECT_FALSE(counts.instructions.value);
    EXPECT_THAT(counts.cycles.reason, HasSubstr("perf_event_paranoid"));
    EXPECT_THAT(counts.instructions.reason, HasSubstr("perf_event_paranoid"));
}

TEST(Group, OneAbsentCounterLeavesTheOther) {
    FakePerf fake;
    fake.open_errors = {{PERF_COUNT_HW_CPU_CYCLES, ENOENT}};
    Group group = Group::of_thread(0, fake);
    group.start();
    const Counts counts = group.stop();
    EXPECT_THAT(counts.cycles.reason, HasSubstr("no such hardware counter"));
    EXPECT_EQ(counts.instructions.value, 4000u);
    EXPECT_TRUE(fake.opened[0].disabled) << "the first that opened leads";
}

TEST(Group, MultiplexedIsAbsent) {
    FakePerf fake;
    fake.running_ns = 500;
    Group group = Group::of_thread(0, fake);
    group.start();
    const Counts counts = group.stop();
    EXPECT_FALSE(counts.cycles.value);
    EXPECT_THAT(counts.cycles.reason, HasSubstr("50.00%"));
}

TEST(Group, ErrorsOfEveryCallAreReasons) {
    const auto counts_with = [](auto&& spoil) {
        FakePerf fake;
        Group group = Group::of_thread(0, fake);
        spoil(fake);
        group.start();
        return group.stop();
    };
    EXPECT_THAT(counts_with([](FakePerf& f) { f.read_error = EIO; }).cycles.reason,
                HasSubstr("reading the counters"));
    EXPECT_THAT(counts_with([](FakePerf& f) { f.enable_error = EIO; }).cycles.reason,
                HasSubstr("enabling the counters"));
    EXPECT_THAT(counts_with([](FakePerf& f) { f.disable_error = EIO; }).cycles.reason,
                HasSubstr("disabling the counters"));
    EXPECT_THAT(counts_with([](FakePerf& f) { f.end_of_file = true; }).cycles.reason,
                HasSubstr("no reading"));
    EXPECT_EQ(counts_with([](FakePerf& f) { f.interruptions = 3; }).cycles.value, 3000u);
}

TEST(Group, StopWithoutStartGivesNothing) {
    FakePerf fake;
    Group group = Group::of_thread(0, fake);
    EXPECT_EQ(group.stop().cycles.reason, "not started");
}

TEST(UnavailableReason, IsNoneWhereCountersCount) {
    FakePerf fake;
    EXPECT_EQ(unavailable_reason(fake), std::nullopt);
    FakePerf denied;
    denied.open_errors = {{PERF_COUNT_HW_CPU_CYCLES, EPERM}};
    EXPECT_THAT(unavailable_reason(denied).value_or(""), HasSubstr("cycles: permission denied"));
    FakePerf dead;
    dead.cycles = 0;
    EXPECT_THAT(unavailable_reason(dead).value_or(""), HasSubstr("read 0"));
}

TEST(UnavailableReason, AgreesWithTheGroupOnThisMachine) {
    const auto reason = unavailable_reason();
    Group group = Group::of_thread(0);
    group.start();
    for (int i = 0; i < 10000; ++i)
        asm volatile("");
    const Counts counts = group.stop();
    EXPECT_EQ(counts.cycles.value.has_value(), counts.cycles.reason.empty());
    if (reason && reason->starts_with("cycles: ")) {
        EXPECT_FALSE(counts.cycles.value && *counts.cycles.value > 0) << *reason;
    }
    if (!reason) {
        EXPECT_TRUE(counts.cycles.value);
    }
}

}  // namespace
}  // namespace vsb::perf
