#include "harness/guest/host_load.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace vsb::guest {
namespace {

TEST(HostLoad, CountsWhatIsNeitherIdleNorWaiting) {
    EXPECT_EQ(parse_busy_ticks("cpu  100 20 30 4000 500 6 7 80 9 10\ncpu0 1 2 3\n"), 163u);
    EXPECT_EQ(parse_busy_ticks("cpu0 1 2 3 4 5 6 7\n"), std::nullopt);
    EXPECT_EQ(parse_busy_ticks("cpu  1 2 3\n"), std::nullopt);
    EXPECT_EQ(parse_busy_ticks(""), std::nullopt);
}

TEST(HostLoad, AProcessMayHaveAnyName) {
    const auto process =
        parse_process_ticks("12 (a) b (c)) R 1 77 77 0 -1 4 5 6 7 8 100 20 3 4 20 0 1 0 9\n");
    ASSERT_TRUE(process);
    EXPECT_EQ(process->group, 77);
    EXPECT_EQ(process->ticks, 127u);
    EXPECT_FALSE(parse_process_ticks("12 (a) R 1 77"));
    EXPECT_FALSE(parse_process_ticks("garbage"));
    EXPECT_FALSE(parse_process_ticks(""));
}

TEST(HostLoad, OthersAreWhatIsNotOurs) {
    const HostLoad before{1000, 400, 0};
    const HostLoad after{1300, 500, 2'000'000'000};
    EXPECT_DOUBLE_EQ(others_cpus(before, after, 100), 1.0);
    EXPECT_DOUBLE_EQ(others_cpus(before, before, 100), 0);
    // Rounding of ticks may make ours the larger ones.
    EXPECT_DOUBLE_EQ(others_cpus(before, {1000, 405, 2'000'000'000}, 100), 0);
}

TEST(HostLoad, DisturbsFromMoreThanTheClocksGrain) {
    const auto beside = [](std::uint64_t ticks, std::uint64_t ms) {
        return disturbing({1000, 400, 0}, {1000 + ticks, 400, ms * 1'000'000}, 100);
    };
    EXPECT_TRUE(beside(20, 1000));
    EXPECT_FALSE(beside(10, 1000));  // a tenth of a CPU
    EXPECT_FALSE(beside(4, 40));     // a whole CPU, of four ticks
    EXPECT_TRUE(beside(6, 60));
}

TEST(HostLoad, ThisProcessIsOurs) {
    const HostLoad load = read_host_load(getpgrp());
    EXPECT_GT(load.busy_ticks, 0u);
    EXPECT_LE(load.our_ticks, load.busy_ticks);
}

}  // namespace
}  // namespace vsb::guest
