#include "datasets/paired_series.h"

#include <gtest/gtest.h>

#include "datasets/direction.h"

namespace vsb::datasets {
namespace {

TEST(DirectionTest, RatesAreBetterWhenHigher) {
    EXPECT_TRUE(higher_is_better("throughput", "Gbit/s"));
    EXPECT_TRUE(higher_is_better("packets", "Mpps"));
    EXPECT_TRUE(higher_is_better("anything", "MB/s"));
    EXPECT_TRUE(higher_is_better("throughput", ""));
    EXPECT_TRUE(higher_is_better("rx_rate", ""));
}

TEST(DirectionTest, TimesCyclesAndCountsAreNot) {
    EXPECT_FALSE(higher_is_better("rtt_mean", "us"));
    EXPECT_FALSE(higher_is_better("cycles_per_byte", "cycles/B"));
    EXPECT_FALSE(higher_is_better("recv_calls", "1"));
    EXPECT_FALSE(higher_is_better("throughput", "1"));
    EXPECT_FALSE(higher_is_better("rtt-p99", ""));
    EXPECT_FALSE(higher_is_better("lock_cycles", ""));
}

TEST(DirectionTest, ANameThatSaysNothingLeavesItToTheCaller) {
    EXPECT_FALSE(says_higher_is_better("", "").has_value());
    EXPECT_FALSE(says_higher_is_better("score", "").has_value());
    EXPECT_FALSE(says_higher_is_better("strategy", "").has_value());  // no "rate" as a word
    EXPECT_TRUE(higher_is_better("", ""));
}

}  // namespace
}  // namespace vsb::datasets
