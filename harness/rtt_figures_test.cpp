#include "harness/rtt_figures.h"

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

namespace vsb::harness {
namespace {

std::map<std::string, double> figures_of(const std::vector<std::uint64_t>& rtt_ns) {
    std::map<std::string, double> figures;
    for (const auto& m : rtt_figures(rtt_ns)) {
        EXPECT_EQ(m.unit, "us");
        figures[m.metric] = m.value;
    }
    return figures;
}

// n, n-1, ..., 1 microseconds: the sample of rank r is r.
std::vector<std::uint64_t> down_from(std::uint64_t n) {
    std::vector<std::uint64_t> samples;
    for (std::uint64_t i = n; i > 0; --i)
        samples.push_back(i * 1000);
    return samples;
}

TEST(RttFigures, NearestRanks) {
    const auto f = figures_of(down_from(10000));
    EXPECT_EQ(rtt_figures(down_from(10)).front().metric, "rtt_mean");
    EXPECT_DOUBLE_EQ(f.at("rtt_mean"), 5000.5);
    EXPECT_EQ(f.at("rtt_min"), 1);
    EXPECT_EQ(f.at("rtt_p50"), 5000);
    EXPECT_EQ(f.at("rtt_p90"), 9000);
    EXPECT_EQ(f.at("rtt_p99"), 9900);
    EXPECT_EQ(f.at("rtt_p99.9"), 9990);
    EXPECT_EQ(f.at("rtt_p99.99"), 9999);
    EXPECT_EQ(f.at("rtt_max"), 10000);
}

TEST(RttFigures, PercentilesThatTheSamplesCannotCarryAreNotGiven) {
    const auto hundred = figures_of(down_from(100));
    EXPECT_EQ(hundred.at("rtt_p99"), 99);
    EXPECT_FALSE(hundred.contains("rtt_p99.9"));
    EXPECT_FALSE(figures_of(down_from(99)).contains("rtt_p99"));
    EXPECT_FALSE(figures_of(down_from(9999)).contains("rtt_p99.99"));
    const auto one = figures_of({7000});
    EXPECT_EQ(one.at("rtt_mean"), 7);
    EXPECT_EQ(one.at("rtt_max"), 7);
    EXPECT_FALSE(one.contains("rtt_p50"));
    EXPECT_EQ(figures_of({1000, 3000, 5000}).at("rtt_p50"), 3);
    EXPECT_THROW(rtt_figures({}), std::invalid_argument);
}

TEST(RttFigures, LargeSamplesDoNotOverflowTheMean) {
    const std::uint64_t huge = ~std::uint64_t{0};
    EXPECT_NEAR(figures_of({huge, huge}).at("rtt_mean"), static_cast<double>(huge) / 1000, 1e4);
}

}  // namespace
}  // namespace vsb::harness
