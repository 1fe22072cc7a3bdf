// Whatever goes in, a result without NaN comes out, or a std::invalid_argument that says why.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "stats/change_points.h"
#include "stats/comparison.h"
#include "stats/confidence_sequence.h"
#include "stats/draws.h"
#include "stats/max_t.h"
#include "stats/planning.h"
#include "stats/published_row.h"
#include "stats/tost_power.h"

namespace vsb::stats {
namespace {

constexpr Method kMethods[] = {Method::crossover_t,    Method::paired_t, Method::normal,
                               Method::hodges_lehmann, Method::sign,     Method::bca,
                               Method::permutation};

// Mostly plain values, with many ties, and now and then the ends of the range or what is no value.
rc::Gen<double> any_value() {
    return rc::gen::weightedOneOf<double>(
        {{60, rc::gen::map(rc::gen::inRange(1, 5), [](int i) { return 0.1 * i; })},
         {60, rc::gen::map(rc::gen::inRange(1, 1'000'000), [](int i) { return i / 1e5; })},
         {2, rc::gen::element(1e-300, 1e300, 1e150, 5e-324, 1.7e308, 1.0, 1.0 + 2.3e-16)},
         {1, rc::gen::element(0.0, -1.0, std::numeric_limits<double>::quiet_NaN(),
                              std::numeric_limits<double>::infinity(), -0.0)}});
}

rc::Gen<Pair> any_pair() {
    return rc::gen::construct<Pair>(any_value(), any_value(),
                                    rc::gen::element(Order::ab, Order::ab, Order::ba));
}

bool fine(std::optional<double> x) {
    return !x || !std::isnan(*x);
}
bool probability(std::optional<double> p) {
    return !p || (*p >= 0 && *p <= 1);
}

// Bounds at the ends of a double are honest; NaN, an estimate out of its interval, or a p out of
// [0, 1] are not.
void expect_sound(const Comparison& c, const std::vector<Pair>& pairs) {
    const double slack = 1e-9 * (1 + std::abs(c.change));
    RC_ASSERT(std::isfinite(c.change));
    RC_ASSERT(std::isfinite(c.ratio) && c.ratio > 0);
    RC_ASSERT(!std::isnan(c.ci.low) && !std::isnan(c.ci.high));
    RC_ASSERT(c.ci.low >= -1);
    RC_ASSERT(c.ci.low <= c.ci.high);
    // With a handful of resamples the bootstrap's bounds may both lie on one side.
    if (c.method != Method::bca) {
        RC_ASSERT(c.ci.low <= c.change + slack && c.change <= c.ci.high + slack);
    }
    RC_ASSERT(fine(c.se_log) && fine(c.df));
    RC_ASSERT(probability(c.p) && probability(c.faster.p) && probability(c.carryover_p));
    if (c.period) {
        RC_ASSERT(std::isfinite(c.period->effect) && probability(c.period->p));
    }
    if (c.hodges_lehmann) {
        RC_ASSERT(std::isfinite(c.hodges_lehmann->change));
        RC_ASSERT(c.hodges_lehmann->low <= c.hodges_lehmann->high);
    }
    RC_ASSERT(c.n_ab + c.n_ba == pairs.size());
    RC_ASSERT(c.faster.n + c.faster.ties == pairs.size());
    RC_ASSERT(c.faster.k <= c.faster.n);
    const auto by_a = [](const Pair& x, const Pair& y) { return x.a < y.a; };
    const auto [least, greatest] = std::minmax_element(pairs.begin(), pairs.end(), by_a);
    RC_ASSERT(c.a >= least->a && c.a <= greatest->a);
    for (const Warning& w : c.warnings)
        RC_ASSERT(!w.code.empty() && !w.text.empty());
}

RC_GTEST_PROP(AnyInput, CompareGivesAResultOrAnError, ()) {
    const auto size = *rc::gen::inRange<std::size_t>(0, 26);
    const auto pairs = *rc::gen::container<std::vector<Pair>>(size, any_pair());
    Options options;
    options.method =
        *rc::gen::elementOf(std::vector<Method>(std::begin(kMethods), std::end(kMethods)));
    options.confidence = *rc::gen::element(0.95, 0.5, 0.999999, 0.01, 0.0, 1.0);
    if (*rc::gen::arbitrary<bool>()) options.margin = *rc::gen::element(0.02, 1e-300, 1e300, 0.0);
    options.better = *rc::gen::element(Better::higher, Better::lower);
    try {
        expect_sound(compare(pairs, options), pairs);
    } catch (const std::invalid_argument& error) {
        RC_ASSERT(std::string(error.what()).size() > 10);
    }
}

// Only good values: then there is no excuse for an error.
RC_GTEST_PROP(AnyInput, GoodPairsAlwaysGiveAResult, ()) {
    const auto value = rc::gen::map(rc::gen::inRange(1, 4000), [](int i) { return i / 100.0; });
    const auto pair =
        rc::gen::construct<Pair>(value, value, rc::gen::element(Order::ab, Order::ba));
    const auto size = *rc::gen::inRange<std::size_t>(2, 24);
    const auto pairs = *rc::gen::container<std::vector<Pair>>(size, pair);
    for (const Method m : kMethods)
        expect_sound(compare(pairs, {.method = m}), pairs);
}

RC_GTEST_PROP(AnyInput, HistoryGivesChangePointsOrAnError, ()) {
    const auto value = rc::gen::weightedOneOf<double>(
        {{200, rc::gen::map(rc::gen::inRange(-4, 5), [](int i) { return 0.01 * i; })},
         {2, rc::gen::element(1e300, -1e300, 700.0, 1e-310)},
         {1, rc::gen::just(std::numeric_limits<double>::quiet_NaN())}});
    const auto se = rc::gen::weightedOneOf<double>(
        {{200, rc::gen::element(0.01, 0.02, 0.5)}, {2, rc::gen::element(1e-90, 1e90, 0.0, -1.0)}});
    const auto size = *rc::gen::inRange<std::size_t>(0, 60);
    const auto nights =
        *rc::gen::container<std::vector<Night>>(size, rc::gen::construct<Night>(value, se));
    try {
        auto found = e_divisive(nights, {.permutations = 19});
        const auto more = pelt(nights);
        found.insert(found.end(), more.begin(), more.end());
        for (const ChangePoint& change : found) {
            RC_ASSERT(change.index > 0 && change.index < nights.size());
            RC_ASSERT(!std::isnan(change.before) && !std::isnan(change.after));
            RC_ASSERT(change.se > 0);
            RC_ASSERT(probability(change.p));
        }
    } catch (const std::invalid_argument& error) {
        RC_ASSERT(std::string(error.what()).size() > 10);
    }
}

RC_GTEST_PROP(AnyInput, TablesGiveAResultOrAnError, ()) {
    const auto cell = rc::gen::weightedOneOf<std::optional<double>>(
        {{12, rc::gen::map(rc::gen::inRange(-5, 6),
                           [](int i) { return std::optional<double>(0.1 * i); })},
         {1, rc::gen::just(std::optional<double>())},
         {1, rc::gen::element<std::optional<double>>(1e150, -700.0, 1e-300)}});
    const auto rows = *rc::gen::inRange<std::size_t>(0, 6);
    const auto pairs = *rc::gen::inRange<std::size_t>(0, 23);
    const auto table =
        *rc::gen::container<std::vector<TableRow>>(rows, rc::gen::container<TableRow>(pairs, cell));
    try {
        const MaxT found = max_t(table, 0.95, 1, 200);
        for (const auto& p : found.p)
            RC_ASSERT(probability(p));
        for (const LogInterval& interval : found.intervals)
            RC_ASSERT(interval.low <= interval.high);
        const TableSign sign = table_sign_test(table, 1, 200);
        RC_ASSERT(probability(sign.p) && probability(sign.p_independent));
    } catch (const std::invalid_argument& error) {
        RC_ASSERT(std::string(error.what()).size() > 10);
    }
}

RC_GTEST_PROP(AnyInput, PlansGiveANumberOrAnError, ()) {
    const auto number =
        rc::gen::element(0.02, 0.01, 1e-9, 1e9, 0.0, -0.5, 1e-300, 1e300, 0.8, 0.95, 3.0);
    const double sd = *number;
    const double target = *number;
    const double level = *number;
    const auto n = *rc::gen::element<std::size_t>(0, 3, 4, 16, 1000, 1'000'000);
    const auto attempt = [](const auto& f) {
        try {
            RC_ASSERT(!std::isnan(static_cast<double>(f())));
        } catch (const std::invalid_argument& error) {
            RC_ASSERT(std::string(error.what()).size() > 10);
        }
    };
    attempt([&] { return pairs_for_half_width(sd, target, level); });
    attempt([&] { return pairs_for_half_width_assured(sd, target, level, 0.8); });
    attempt([&] { return half_width_of(n, sd, level); });
    attempt([&] { return power_of(n, target, sd, level); });
    attempt([&] { return pairs_for_power(target, sd, 0.8, level); });
    attempt([&] { return minimum_detectable_change(n, sd, level); });
    const TostPlan plan{.sd = sd, .ratio = 1, .low = 1 / (1 + target), .high = 1 + target};
    attempt([&] { return tost_power(plan, n); });
    attempt([&] { return pairs_for_tost(plan, level); });
}

RC_GTEST_PROP(AnyInput, PrintedRowsAreCheckedOrRefused, ()) {
    const auto digits =
        rc::gen::container<std::string>(rc::gen::elementOf(std::string("019.+-% ")));
    PublishedRow row;
    try {
        row.change = parse_printed(*digits);
        row.low = parse_printed(*digits);
        row.high = parse_printed(*digits);
        row.a = parse_printed(*digits);
        row.b = parse_printed(*digits);
    } catch (const std::invalid_argument&) {
        // the fields read so far are checked all the same
    }
    const RowCheck found = check_published_row(row, {.pairs = 16});
    RC_ASSERT(fine(found.se) && probability(found.p));
    RC_ASSERT(found.reason.empty() == (found.verdict == Consistency::consistent));
}

TEST(AnyInput, TheEndsOfTheRange) {
    for (const double scale : {1e-300, 1e300, 5e-324, 1.7e308}) {
        const std::vector<Pair> pairs{{scale, scale, Order::ab},
                                      {scale, scale, Order::ba},
                                      {scale, scale, Order::ab},
                                      {scale, scale, Order::ba}};
        for (const Method m : kMethods) {
            const Comparison c = compare(pairs, {.method = m});
            EXPECT_EQ(c.change, 0);
            EXPECT_EQ(c.a, scale);
            EXPECT_EQ(c.b, scale);
        }
    }
    // Ratios of e^600 and e^-600 within each order leave no upper bound that a double can hold.
    const std::vector<Pair> wild{
        {1, 1e260, Order::ab}, {1e260, 1, Order::ab}, {1, 2e260, Order::ba}, {2e260, 1, Order::ba}};
    const Comparison c = compare(wild, {});
    EXPECT_TRUE(std::isinf(c.ci.high));
    EXPECT_EQ(c.ci.low, -1);
    EXPECT_EQ(c.verdict, Verdict::inconclusive);
    EXPECT_TRUE(std::any_of(c.warnings.begin(), c.warnings.end(),
                            [](const Warning& w) { return w.code == "unbounded-interval"; }));
}

std::vector<Pair> many_pairs(std::size_t n) {
    Draws random(7);
    std::vector<Pair> pairs(n);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const double a = 1 + random.below(1'000'000'000) / 1e9;
        const double b = a * (1.01 + (random.below(1'000'000'000) / 1e9 - 0.5) / 10);
        pairs[i] = {a, b, random.below(2) == 0 ? Order::ab : Order::ba};
    }
    return pairs;
}

TEST(AnyInput, AHundredThousandPairsByTheHeadlineMethod) {
    const auto pairs = many_pairs(100'000);
    const Comparison c = compare(pairs, {});
    EXPECT_NEAR(c.change, 0.0096, 4e-4);  // the mean logarithm lies below the mean
    EXPECT_LT(c.ci.high - c.ci.low, 5e-4);
    EXPECT_NEAR(c.hodges_lehmann.value().change, c.change, 4e-4);
    EXPECT_LT(c.hodges_lehmann->high - c.hodges_lehmann->low, 6e-4);
}

TEST(AnyInputSlow, AMillionPairsByEveryMethod) {
    const auto pairs = many_pairs(1'000'000);
    for (const Method m : kMethods) {
        const Comparison c = compare(pairs, {.method = m});
        EXPECT_NEAR(c.change, 0.0098, 5e-4) << method_name(m);
        EXPECT_LT(c.ci.low, c.change) << method_name(m);
        EXPECT_LT(c.ci.high - c.ci.low, 6e-4) << method_name(m);
        if (c.p) {
            EXPECT_LE(*c.p, 0.001) << method_name(m);
        }
    }
}

}  // namespace
}  // namespace vsb::stats
