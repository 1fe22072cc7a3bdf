#include "stats/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace vsb::stats {
namespace {

using ::testing::HasSubstr;

// Pairs with A = 10 and the given ln(B/A), AB and BA in turn.
std::vector<Pair> pairs_of(const std::vector<double>& d) {
    std::vector<Pair> out;
    for (std::size_t i = 0; i < d.size(); ++i) {
        const double base = 10 + 0.01 * static_cast<double>(i);  // so that no value repeats
        out.push_back({base, base * std::exp(d[i]), i % 2 == 0 ? Order::ab : Order::ba});
    }
    return out;
}

bool warns(const Comparison& c, const std::string& code) {
    for (const Warning& w : c.warnings) {
        if (w.code == code) return true;
    }
    return false;
}

std::string message(const std::vector<Pair>& pairs, const Options& options) {
    try {
        compare(pairs, options);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "no error";
}

// AB: 0.01 0.02 0.03 (mean 0.02, SS 2e-4); BA: 0.04 0.06 0.08 (mean 0.06, SS 8e-4).
// theta 0.04, period -0.02, s^2 = 1e-3/4, SE = s/2 sqrt(2/3), t(0.975, 4) = 2.7764451051978.
TEST(Compare, CrossoverByHand) {
    const Comparison c = compare(pairs_of({0.01, 0.04, 0.02, 0.06, 0.03, 0.08}), {});
    const double se = std::sqrt(1e-3 / 4) / 2 * std::sqrt(2.0 / 3);
    EXPECT_NEAR(c.change, std::expm1(0.04), 1e-14);
    EXPECT_NEAR(c.se_log.value(), se, 1e-14);
    EXPECT_EQ(c.df, 4);
    EXPECT_NEAR(c.ci.low, std::expm1(0.04 - 2.7764451051978 * se), 1e-12);
    EXPECT_NEAR(c.ci.high, std::expm1(0.04 + 2.7764451051978 * se), 1e-12);
    EXPECT_NEAR(c.period.value().effect, std::expm1(-0.02), 1e-14);
    EXPECT_EQ(c.verdict, Verdict::faster);
    EXPECT_EQ(c.faster.k, 6U);
    EXPECT_EQ(c.faster.n, 6U);
    EXPECT_NEAR(c.faster.p.value(), 2.0 / 64, 1e-15);
}

// The normal quantile 1.959963984540054 on 20 pairs: ten d of 0.03, ten of 0.05; mean 0.04,
// s^2 = 20 * 1e-4 / 19, SE = s / sqrt(20) = 0.01 / sqrt(19).
TEST(Compare, NormalByHandOnTwentyPairs) {
    std::vector<double> d;
    for (int i = 0; i < 10; ++i)
        d.insert(d.end(), {0.03, 0.05});
    const Comparison c = compare(pairs_of(d), {.method = Method::normal});
    const double se = 0.01 / std::sqrt(19.0);
    EXPECT_NEAR(c.se_log.value(), se, 1e-13);
    EXPECT_NEAR(c.ci.low, std::expm1(0.04 - 1.959963984540054 * se), 1e-12);
    EXPECT_NEAR(c.ci.high, std::expm1(0.04 + 1.959963984540054 * se), 1e-12);
    EXPECT_FALSE(c.df.has_value());
    EXPECT_TRUE(warns(c, "normal-small-sample"));
    d.insert(d.end(), {0.03, 0.05, 0.03, 0.05, 0.03, 0.05, 0.03, 0.05, 0.03, 0.05});
    EXPECT_FALSE(warns(compare(pairs_of(d), {.method = Method::normal}), "normal-small-sample"));
}

// n = 6: P(K <= 0) = 1/64 <= 0.025 < P(K <= 1) = 7/64, so the interval is [min, max].
TEST(Compare, SignIsAnOrderStatisticInterval) {
    const auto pairs = pairs_of({0.05, -0.01, 0.03, 0.02, 0.04, 0.01});
    const Comparison c = compare(pairs, {.method = Method::sign});
    EXPECT_NEAR(c.change, std::expm1(0.025), 1e-14);
    EXPECT_NEAR(c.ci.low, std::expm1(-0.01), 1e-14);
    EXPECT_NEAR(c.ci.high, std::expm1(0.05), 1e-14);
    EXPECT_NEAR(c.p.value(), 2 * 7.0 / 64, 1e-15);
    // At 75%, P(K <= 1) = 7/64 <= 0.125: second smallest to second greatest.
    const Comparison narrow = compare(pairs, {.method = Method::sign, .confidence = 0.75});
    EXPECT_NEAR(narrow.ci.low, std::expm1(0.01), 1e-14);
    EXPECT_NEAR(narrow.ci.high, std::expm1(0.04), 1e-14);
}

TEST(Compare, SignWithTooFewPairsSaysWhatItReaches) {
    const Comparison c = compare(pairs_of({0.02, 0.03, 0.04}), {.method = Method::sign});
    EXPECT_TRUE(warns(c, "confidence-not-reached"));
    EXPECT_NEAR(c.ci.low, std::expm1(0.02), 1e-14);
    EXPECT_EQ(c.verdict, Verdict::inconclusive);
}

TEST(Compare, LowerIsBetterTurnsVerdictAndFasterOver) {
    const auto pairs = pairs_of({-0.10, -0.11, -0.12, -0.10, 0.01, -0.09, -0.11, -0.12});
    const Comparison c = compare(pairs, {.better = Better::lower});
    EXPECT_EQ(c.verdict, Verdict::faster);
    EXPECT_EQ(c.faster.k, 7U);
    EXPECT_EQ(compare(pairs, {}).verdict, Verdict::slower);
    EXPECT_EQ(compare(pairs, {}).faster.k, 1U);
}

TEST(Compare, TiesAreLeftOutOfFasterAndCounted) {
    std::vector<Pair> pairs = pairs_of({0.1, 0.2, -0.1, 0.3, 0.1, 0.2});
    pairs[0].b = pairs[0].a;
    const Comparison c = compare(pairs, {});
    EXPECT_EQ(c.faster.k, 4U);
    EXPECT_EQ(c.faster.n, 5U);
    EXPECT_EQ(c.faster.ties, 1U);
    EXPECT_NEAR(c.faster.p.value(), 2 * 6.0 / 32, 1e-15);
}

// The 95% interval reaches beyond the margin, the 90% one does not: equivalence goes by the latter.
TEST(Compare, EquivalenceGoesByTheNarrowInterval) {
    const auto pairs = pairs_of({0.010, -0.010, -0.011, 0.012, 0.009, -0.012, -0.008, 0.010});
    const Comparison c95 = compare(pairs, {});
    const Comparison c90 = compare(pairs, {.confidence = 0.90});
    const double margin = (std::max(c95.ci.high, -std::expm1(-std::log1p(-c95.ci.low))) +
                           std::max(c90.ci.high, 1 / (1 + c90.ci.low) - 1)) /
                          2;
    ASSERT_LT(c90.ci.high, margin);
    ASSERT_GT(std::max(c95.ci.high, 1 / (1 + c95.ci.low) - 1), margin);
    EXPECT_EQ(c95.verdict, Verdict::inconclusive);
    EXPECT_EQ(compare(pairs, {.margin = margin}).verdict, Verdict::equivalent);
    const double narrower = std::max(c90.ci.high, 1 / (1 + c90.ci.low) - 1) * 0.99;
    EXPECT_EQ(compare(pairs, {.margin = narrower}).verdict, Verdict::inconclusive);
}

TEST(Compare, AChangeBeyondTheMarginIsNotEquivalentOnEitherSide) {
    const auto up = pairs_of({0.100, 0.110, 0.102, 0.109, 0.101, 0.111});
    EXPECT_EQ(compare(up, {.margin = 0.02}).verdict, Verdict::faster);
    const auto down = pairs_of({-0.100, -0.110, -0.102, -0.109, -0.101, -0.111});
    EXPECT_EQ(compare(down, {.margin = 0.02}).verdict, Verdict::slower);
}

TEST(Compare, ASmallSureChangeInsideTheMarginIsEquivalentAndOutsideIsNot) {
    const auto pairs = pairs_of({0.010, 0.011, 0.0102, 0.0109, 0.0101, 0.0111});
    EXPECT_EQ(compare(pairs, {}).verdict, Verdict::faster);
    EXPECT_EQ(compare(pairs, {.margin = 0.02}).verdict, Verdict::equivalent);
    EXPECT_EQ(compare(pairs, {.margin = 0.005}).verdict, Verdict::faster);
}

TEST(Compare, AllChangesEqualIsAPointWithoutP) {
    std::vector<Pair> pairs;
    for (int i = 0; i < 6; ++i) {
        const double a = 0.1 * (i + 1);
        pairs.push_back({a, 3 * a, i % 2 == 0 ? Order::ab : Order::ba});
    }
    for (const Method m : {Method::crossover_t, Method::paired_t, Method::normal, Method::sign,
                           Method::hodges_lehmann, Method::bca, Method::permutation}) {
        SCOPED_TRACE(method_name(m));
        const Comparison c = compare(pairs, {.method = m});
        EXPECT_TRUE(warns(c, "zero-variance"));
        EXPECT_EQ(c.method, m);
        EXPECT_EQ(c.ci.low, c.change);
        EXPECT_EQ(c.ci.high, c.change);
        EXPECT_EQ(c.se_log, 0);
        EXPECT_FALSE(c.p.has_value());
        EXPECT_FALSE(c.period.value().p.has_value());
        EXPECT_NEAR(c.change, 2, 1e-14);
        EXPECT_EQ(c.faster.k, 6U);
    }
}

// 0.33/0.3 and 0.77/0.7 are not the same double, and yet the same change.
TEST(Compare, ChangesThatDifferByRoundingAloneAreEqual) {
    std::vector<Pair> pairs;
    bool differ = false;
    for (int i = 0; i < 8; ++i) {
        const int step = i + 1;
        pairs.push_back({step / 10.0, 11 * step / 100.0, i % 2 == 0 ? Order::ab : Order::ba});
        differ = differ || pairs.back().b / pairs.back().a != pairs[0].b / pairs[0].a;
    }
    ASSERT_TRUE(differ);
    const Comparison c = compare(pairs, {});
    EXPECT_TRUE(warns(c, "zero-variance"));
    EXPECT_FALSE(c.p.has_value());
}

TEST(Compare, CountsThatNeverChangeAreInconclusiveOrEquivalent) {
    const std::vector<Pair> pairs{
        {7, 7, Order::ab}, {7, 7, Order::ba}, {7, 7, Order::ab}, {7, 7, Order::ba}};
    const Comparison c = compare(pairs, {});
    EXPECT_EQ(c.verdict, Verdict::inconclusive);
    EXPECT_EQ(c.change, 0);
    EXPECT_EQ(c.a, 7);
    EXPECT_FALSE(c.faster.p.has_value());
    EXPECT_EQ(compare(pairs, {.margin = 0.01}).verdict, Verdict::equivalent);
}

TEST(Compare, FewerThanTwoOfAnOrderFallsBackToPairedT) {
    auto pairs = pairs_of({0.01, 0.04, 0.02, 0.06});
    pairs[3].order = Order::ab;
    const Comparison c = compare(pairs, {});
    EXPECT_EQ(c.method, Method::paired_t);
    EXPECT_TRUE(warns(c, "too-few-of-an-order"));
    EXPECT_FALSE(c.period.has_value());
    EXPECT_FALSE(c.carryover_p.has_value());
    EXPECT_EQ(c.df, 3);
    EXPECT_FALSE(warns(compare(pairs, {.method = Method::paired_t}), "too-few-of-an-order"));
}

TEST(Compare, UnequalOrdersKeepTheRatioOfTheMeansTheChange) {
    auto pairs = pairs_of({0.01, 0.04, 0.02, 0.06, 0.05, 0.09});
    pairs[1].order = Order::ab;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        pairs[i].a *= static_cast<double>(i + 1);
        pairs[i].b *= static_cast<double>(i + 1);
    }
    const Comparison c = compare(pairs, {});
    EXPECT_NEAR(c.b / c.a - 1, c.change, 1e-13);
    const Comparison paired = compare(pairs, {.method = Method::paired_t});
    EXPECT_NEAR(paired.b / paired.a - 1, paired.change, 1e-13);
    EXPECT_GT(std::abs(paired.change - c.change), 1e-4);
}

TEST(Compare, ManyPairsOfOneOrderAreWarnedAbout) {
    std::vector<Pair> pairs = pairs_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
    for (Pair& pair : pairs)
        pair.order = Order::ab;
    pairs[9].order = Order::ba;
    EXPECT_TRUE(warns(compare(pairs, {}), "order-imbalance"));  // 9 to 1: p = 0.0215
    pairs[8].order = Order::ba;
    EXPECT_FALSE(warns(compare(pairs, {}), "order-imbalance"));  // 8 to 2: p = 0.109
}

TEST(Compare, BadInputIsAnErrorThatNamesIt) {
    const auto good = pairs_of({0.1, 0.2, 0.3, 0.4});
    EXPECT_THAT(message({}, {}), HasSubstr("0 pairs given"));
    EXPECT_THAT(message({{1, 2, Order::ab}}, {}), HasSubstr("1 pair given"));
    for (const double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity()}) {
        auto pairs = good;
        pairs[2].b = bad;
        EXPECT_THAT(message(pairs, {}), HasSubstr("pair 3: the value of B is"));
        pairs = good;
        pairs[1].a = bad;
        EXPECT_THAT(message(pairs, {}), HasSubstr("pair 2: the value of A is"));
    }
    for (const double bad : {0.0, 1.0, -0.5, std::numeric_limits<double>::quiet_NaN()}) {
        EXPECT_THAT(message(good, {.confidence = bad}), HasSubstr("confidence"));
    }
    for (const double bad : {0.0, -0.1, std::numeric_limits<double>::infinity()}) {
        EXPECT_THAT(message(good, {.margin = bad}), HasSubstr("margin"));
    }
    EXPECT_THAT(message(good, {.confidence = 0.4, .margin = 0.1}), HasSubstr("above 0.5"));
    auto far = good;
    far[0] = {1e-300, 1e300, Order::ab};
    EXPECT_THAT(message(far, {}), HasSubstr("pair 1"));
}

TEST(Names, AreReadBack) {
    for (const Method m : {Method::crossover_t, Method::paired_t, Method::normal, Method::sign,
                           Method::hodges_lehmann, Method::bca, Method::permutation}) {
        EXPECT_EQ(parse_method(method_name(m)), m);
    }
    EXPECT_EQ(method_name(Method::crossover_t), "crossover-t");
    EXPECT_EQ(verdict_name(Verdict::inconclusive), "inconclusive");
    try {
        parse_method("t-test");
        FAIL();
    } catch (const std::invalid_argument& error) {
        EXPECT_THAT(error.what(), HasSubstr("crossover-t, paired-t, normal"));
    }
}

}  // namespace
}  // namespace vsb::stats
