#include "stats/moments.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "stats/reference_data.h"

namespace vsb::stats {
namespace {

TEST(Moments, KeepWhatPlainSumsLose) {
    const std::vector<double> values{1, 1e100, 1, -1e100};
    EXPECT_EQ(compensated_sum(values), 2);
}

TEST(Moments, OfOneAndOfNoValue) {
    EXPECT_EQ(moments({}).n, 0U);
    const std::vector<double> one{5};
    EXPECT_EQ(moments(one).mean, 5);
    EXPECT_EQ(moments(one).sd(), 0);
}

TEST(Moments, MedianAndItsDeviationLeaveTheInputAlone) {
    const std::vector<double> odd{9, 1, 5};
    EXPECT_EQ(median(odd), 5);
    EXPECT_EQ(odd, (std::vector<double>{9, 1, 5}));
    const std::vector<double> even{4, 1, 3, 100};
    EXPECT_EQ(median(even), 3.5);
    EXPECT_EQ(median_absolute_deviation(even), 1.5);  // distances 0.5, 2.5, 0.5, 96.5
    const std::vector<double> wide{-1e308, 1e308};
    EXPECT_TRUE(std::isfinite(median(wide)));
}

double digits(double got, double want) {
    if (got == want) return 16;
    return -std::log10(std::abs(got - want) / std::abs(want));
}

// NIST Statistical Reference Datasets, univariate summary statistics.
TEST(MomentsReference, NistDigits) {
    VSB_NEED_FOLDER(testing::reference_folder());
    const std::map<std::string, double> wanted{{"PiDigits", 14}, {"Lottery", 14},  {"Lew", 14},
                                               {"Mavro", 11},    {"Michelso", 11}, {"NumAcc1", 15},
                                               {"NumAcc2", 13},  {"NumAcc3", 9},   {"NumAcc4", 7}};
    std::size_t seen = 0;
    const auto folder = testing::reference_folder() / "nist-strd";
    for (const auto& row : testing::read_csv(folder / "certified.csv")) {
        const std::string& name = row.at("dataset");
        SCOPED_TRACE(name);
        std::vector<double> y;
        for (const auto& line : testing::read_csv(folder / (name + ".csv"))) {
            y.push_back(std::stod(line.at("y")));
        }
        ASSERT_EQ(y.size(), std::stoul(row.at("n")));
        const Moments m = moments(y);
        EXPECT_GE(digits(m.mean, std::stod(row.at("recomputed_mean"))), 14);
        EXPECT_GE(digits(m.sd(), std::stod(row.at("recomputed_sd"))), wanted.at(name));
        ++seen;
    }
    EXPECT_EQ(seen, wanted.size());
}

}  // namespace
}  // namespace vsb::stats
