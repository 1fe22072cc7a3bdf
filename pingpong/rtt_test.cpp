#include "pingpong/rtt.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace vsb::pingpong {
namespace {

TEST(Summarize, TakesPercentilesByNearestRank) {
    std::vector<std::uint64_t> samples;
    for (std::uint64_t i = 10000; i > 0; --i)
        samples.push_back(i);
    const RttSummary summary = summarize(samples);
    EXPECT_EQ(summary.mean_ns, 5000.5);
    EXPECT_EQ(summary.min_ns, 1u);
    EXPECT_EQ(summary.max_ns, 10000u);
    EXPECT_EQ(summary.percentiles[0].ns, 5000u);
    EXPECT_EQ(summary.percentiles[1].ns, 9000u);
    EXPECT_EQ(summary.percentiles[2].ns, 9900u);
    EXPECT_EQ(summary.percentiles[3].ns, 9990u);
    EXPECT_EQ(summary.percentiles[4].ns, 9999u);
}

TEST(Summarize, LeavesOutWhatFewSamplesCannotTell) {
    const auto of = [](std::size_t n) { return summarize(std::vector<std::uint64_t>(n, 7)); };
    EXPECT_EQ(of(1).percentiles[0].ns, std::nullopt);
    EXPECT_EQ(of(2).percentiles[0].ns, 7u);
    EXPECT_EQ(of(9).percentiles[1].ns, std::nullopt);
    EXPECT_EQ(of(999).percentiles[3].ns, std::nullopt);
    EXPECT_EQ(of(1000).percentiles[3].ns, 7u);
    EXPECT_EQ(of(9999).percentiles[4].ns, std::nullopt);
    EXPECT_EQ(of(10000).percentiles[4].ns, 7u);
    EXPECT_THROW(of(0), std::invalid_argument);
}

TEST(Summarize, AnOddCountRoundsTheRankUp) {
    EXPECT_EQ(summarize({30, 10, 20}).percentiles[0].ns, 20u);
}

}  // namespace
}  // namespace vsb::pingpong
