#include "stats/diagnostics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "stats/draws.h"
#include "stats/text.h"
#include "stats/verdict.h"

namespace vsb::stats {
namespace {

double uniform(Draws& random) {
    return static_cast<double>(random.below(1U << 30)) / (1U << 30);
}

bool has(const std::vector<Warning>& warnings, const std::string& code) {
    for (const Warning& w : warnings) {
        if (w.code == code) return true;
    }
    return false;
}

// x = 1 2 4 3 5 against 0..4: slope 0.9, residual SS 1.9, t = 0.9/sqrt(1.9/3/10) = 3.576237,
// p = 0.0374 with 3 df.
TEST(Trend, ByHand) {
    const std::vector<double> x{1, 2, 4, 3, 5};
    EXPECT_NEAR(trend_p(x, 1).value(), 0.03738607346849863, 1e-9);
    EXPECT_GT(trend_p(x, 2).value(), 0.0374);
    EXPECT_FALSE(trend_p(std::vector<double>{1, 1, 1, 1}, 1).has_value());
    EXPECT_FALSE(trend_p(std::vector<double>{1, 2}, 1).has_value());
    EXPECT_EQ(trend_p(std::vector<double>{1, 2, 3, 4}, 1), 0);
}

// x = 1 -1 1 -1 2 -2: r_1 = -8/12 (mean 0, SS 12), Q = 6*8*(4/9)/5 = 64/15; P(chi2_1 >= Q) is
// erfc(sqrt(Q/2)).
TEST(LjungBox, ByHandAndWithSmallP) {
    const std::vector<double> x{1, -1, 1, -1, 2, -2};
    const double r = -(1.0 + 1 + 1 + 2 + 4) / 12;
    const double q = 6 * 8 * r * r / 5;
    EXPECT_NEAR(ljung_box_p(x, 1).value(), std::erfc(std::sqrt(q / 2)), 1e-14);
    // A long slow wave: 1 - cdf would give 0.
    std::vector<double> wave;
    for (int i = 0; i < 100; ++i)
        wave.push_back(std::sin(i * 0.05));
    const double p = ljung_box_p(wave, 5).value();
    EXPECT_GT(p, 0);
    EXPECT_LT(p, 1e-60);
    EXPECT_FALSE(ljung_box_p(std::vector<double>{1, 1, 1}, 1).has_value());
    EXPECT_FALSE(ljung_box_p(x, 6).has_value());
}

// Four above, four below: R runs; of the C(8,4) = 70 arrangements, 2 have 2 runs, 6 have 3, and as
// many have 8 and 7.
TEST(RunsTest, ExactByCounting) {
    EXPECT_NEAR(runs_test_p(std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8}).value(), 4.0 / 70, 1e-12);
    EXPECT_NEAR(runs_test_p(std::vector<double>{1, 2, 5, 6, 7, 8, 3, 4}).value(), 16.0 / 70, 1e-12);
    EXPECT_NEAR(runs_test_p(std::vector<double>{1, 8, 2, 7, 3, 6, 4, 5}).value(), 4.0 / 70, 1e-12);
    // A value at the median itself is on no side.
    EXPECT_NEAR(runs_test_p(std::vector<double>{1, 2, 3, 4, 4.5, 5, 6, 7, 8}).value(), 4.0 / 70,
                1e-12);
    EXPECT_FALSE(runs_test_p(std::vector<double>{2, 2, 2}).has_value());
}

TEST(RunsTest, ExactAndLimitJoin) {
    Draws random(4);
    std::vector<double> x;
    for (int i = 0; i < 2000; ++i)
        x.push_back(uniform(random));
    const double exact = runs_test_p(x).value();
    x.insert(x.end(), {0.0001, 0.9999});
    EXPECT_NEAR(runs_test_p(x).value(), exact, 0.05);
}

TEST(Outliers, ModifiedZ) {
    // Median 3, MAD 1: 0.6745 |x - 3| > 3.5 from |x - 3| = 5.189 on.
    EXPECT_EQ(outliers(std::vector<double>{1, 2, 3, 4, 8.1}).size(), 0U);
    EXPECT_EQ(outliers(std::vector<double>{1, 2, 3, 4, 8.3}), std::vector<std::size_t>{4});
    EXPECT_TRUE(outliers(std::vector<double>{1, 1, 1, 9}).empty());
}

TEST(OrderImbalance, ExactBinomial) {
    EXPECT_FALSE(order_imbalance(8, 8).has_value());
    EXPECT_FALSE(order_imbalance(8, 2).has_value());
    EXPECT_EQ(order_imbalance(9, 1).value().code, "order-imbalance");
    EXPECT_EQ(order_imbalance(0, 6).value().code, "order-imbalance");
}

TEST(LostRuns, SayWhichStateLostThem) {
    EXPECT_FALSE(lost_runs(0, 0).has_value());
    EXPECT_EQ(lost_runs(1, 2).value().text.find("more than chance"), std::string::npos);
    EXPECT_NE(lost_runs(8, 0).value().text.find("A loses more than chance"), std::string::npos);
    EXPECT_NE(lost_runs(0, 8).value().text.find("B loses more than chance"), std::string::npos);
}

std::vector<Pair> pairs_with(std::size_t n, std::uint64_t seed, double drift, double period) {
    Draws random(seed);
    std::vector<Pair> out;
    for (std::size_t i = 0; i < n; ++i) {
        const Order order = i % 2 == 0 ? Order::ab : Order::ba;
        const double a = 10 + uniform(random);
        const double d = 0.01 * (uniform(random) + uniform(random) - 1) +
                         drift * static_cast<double>(i) / static_cast<double>(n) +
                         (order == Order::ab ? period : -period);
        out.push_back({a, a * std::exp(d), order});
    }
    return out;
}

TEST(Diagnose, CleanPairsAreSeldomWarnedAbout) {
    int warned = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        warned += compare(pairs_with(16, seed, 0, 0), {}).warnings.empty() ? 0 : 1;
    }
    EXPECT_LE(warned, 60);  // period and carry-over at 5%, three patterns at 1%, outliers
}

TEST(Diagnose, FewerThanThreeQuartersDifferentIsCoarse) {
    auto pairs = pairs_with(16, 8, 0, 0);
    const auto repeat = [&](std::size_t to, std::size_t from) {
        pairs[to].b *= pairs[from].a / pairs[to].a;  // the change stays
        pairs[to].a = pairs[from].a;
    };
    for (std::size_t i = 0; i < 4; ++i)
        repeat(12 + i, i);
    EXPECT_FALSE(has(compare(pairs, {}).warnings, "repeated-values"));
    repeat(11, 4);
    EXPECT_TRUE(has(compare(pairs, {}).warnings, "repeated-values"));
}

// Two up, two down: neighbours are unrelated, pairs two apart are opposite.
TEST(Diagnose, SeesAPatternLongerThanOnePair) {
    auto pairs = pairs_with(60, 9, 0, 0);
    for (std::size_t i = 0; i < pairs.size(); ++i)
        pairs[i].b *= std::exp(i % 4 < 2 ? 0.05 : -0.05);
    EXPECT_TRUE(has(compare(pairs, {}).warnings, "autocorrelation"));
}

TEST(Diagnose, APeriodEffectIsNoTrendEvenWhereTheOrdersComeInTwoBlocks) {
    auto pairs = pairs_with(16, 10, 0, 0);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        pairs[i].order = i < 8 ? Order::ab : Order::ba;
        pairs[i].b *= std::exp(i < 8 ? 0.05 : -0.05);
    }
    EXPECT_FALSE(has(compare(pairs, {}).warnings, "run-order-trend"));
}

TEST(Diagnose, NamesWhatWasPlanted) {
    EXPECT_TRUE(has(compare(pairs_with(20, 1, 0.05, 0), {}).warnings, "run-order-trend"));
    EXPECT_TRUE(has(compare(pairs_with(60, 2, 0.05, 0), {}).warnings, "autocorrelation"));
    EXPECT_TRUE(has(compare(pairs_with(60, 2, 0.05, 0), {}).warnings, "runs-test"));
    const Comparison period = compare(pairs_with(20, 3, 0, 0.02), {});
    EXPECT_TRUE(has(period.warnings, "period-effect"));
    EXPECT_NEAR(period.period.value().effect, 0.02, 0.004);
    // A period effect alternates with the pairs and is no pattern in time.
    EXPECT_FALSE(has(period.warnings, "runs-test"));
    EXPECT_FALSE(has(period.warnings, "autocorrelation"));
    auto wild = pairs_with(16, 4, 0, 0);
    wild[7].b *= 1.5;
    const Comparison c = compare(wild, {});
    EXPECT_TRUE(has(c.warnings, "outliers"));
    EXPECT_EQ(c.n_ab + c.n_ba, 16U);  // flagged, never dropped
    auto copied = pairs_with(16, 5, 0, 0);
    copied[9] = copied[4];
    EXPECT_TRUE(has(compare(copied, {}).warnings, "repeated-values"));
    auto coarse = pairs_with(16, 6, 0, 0);
    for (Pair& pair : coarse)
        pair.a = std::round(pair.a * 4) / 4;
    EXPECT_TRUE(has(compare(coarse, {}).warnings, "repeated-values"));
    auto carried = pairs_with(16, 7, 0, 0);
    for (Pair& pair : carried) {
        if (pair.order == Order::ab) pair = {pair.a * 2, pair.b * 2, pair.order};
    }
    EXPECT_TRUE(has(compare(carried, {}).warnings, "carry-over"));
    EXPECT_LT(compare(carried, {}).carryover_p.value(), 0.001);
}

// theta 0.01, se 0.004, 10 df, margin 3%: (0.0295588 - 0.01)/0.004 = 4.8897.
TEST(MarginTests, EquivalenceAndNonInferiority) {
    const LogEstimate up{0.01, 0.004, 10};
    EXPECT_NEAR(equivalence_p(up, 0.03), 0.0003164, 2e-5);
    EXPECT_NEAR(equivalence_p({-0.01, 0.004, 10}, 0.03), equivalence_p(up, 0.03), 1e-15);
    // Against being worse, an increase is good where higher is better and bad where lower is.
    EXPECT_LT(non_inferiority_p(up, 0.03, Better::higher), 1e-5);
    EXPECT_NEAR(non_inferiority_p(up, 0.03, Better::lower), equivalence_p(up, 0.03), 1e-15);
    // The 1 - 2 alpha interval touches the margin exactly where p is alpha.
    const double margin = std::expm1(0.01 + 1.812461122811676 * 0.004);  // t(0.95, 10)
    EXPECT_NEAR(equivalence_p(up, margin), 0.05, 1e-9);
    EXPECT_THROW(equivalence_p(up, 0), std::invalid_argument);
    EXPECT_THROW(equivalence_p({0, 0, 10}, 0.1), std::invalid_argument);
    EXPECT_NEAR(equivalence_p({0, 1, std::nullopt}, std::expm1(1.6448536269514722)), 0.05, 1e-12);
}

TEST(Text, Numbers) {
    EXPECT_EQ(short_number(0.017018), "0.017");
    EXPECT_EQ(short_percent(0.01254), "+1.25%");
    EXPECT_EQ(short_percent(-0.5), "-50.00%");
    EXPECT_EQ(short_percent(1e300), "+1e+302%");
}

}  // namespace
}  // namespace vsb::stats
