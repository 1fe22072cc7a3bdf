// Whatever goes in, a result without NaN comes out, or a std::invalid_argument that says why.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
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

// What a case is drawn from; the seed is the case's number, which a failure shows.
class Any {
  public:
    explicit Any(std::uint64_t seed) : random_(seed) {}

    std::size_t below(std::size_t bound) { return random_.below(bound); }
    bool chance(std::size_t of_hundred) { return below(100) < of_hundred; }
    template <typename T, std::size_t N>
    T of(const T (&choices)[N]) {
        return choices[below(N)];
    }

    // Mostly plain values, with many ties, and now and then the ends of the range or what is no
    // value.
    double value(bool good) {
        static constexpr double kEnds[] = {1e-300, 1e300, 1e150, 5e-324, 1.7e308, 1.0, 1 + 2.3e-16};
        static constexpr double kBad[] = {0, -1, std::numeric_limits<double>::quiet_NaN(),
                                          std::numeric_limits<double>::infinity(), -0.0};
        const std::size_t kind = below(good ? 100 : 123);
        if (kind < 50) return 0.1 * static_cast<double>(1 + below(4));
        if (kind < 100) return static_cast<double>(1 + below(1'000'000)) / 1e5;
        return kind < 122 || chance(80) ? of(kEnds) : of(kBad);
    }

    std::vector<Pair> pairs(std::size_t least, std::size_t most, bool good) {
        std::vector<Pair> out(least + below(most - least + 1));
        for (Pair& pair : out) {
            const double a = value(good);
            const double b = value(good);
            pair = {a, b, chance(60) ? Order::ab : Order::ba};
        }
        return out;
    }

  private:
    Draws random_;
};

// Runs `attempt` on many cases: each is fine, or a std::invalid_argument with something to say.
template <typename Attempt>
void in_any_case(std::size_t cases, const Attempt& attempt) {
    for (std::uint64_t seed = 1; seed <= cases; ++seed) {
        SCOPED_TRACE(seed);
        Any any(seed);
        try {
            attempt(any);
        } catch (const std::invalid_argument& error) {
            EXPECT_GT(std::string(error.what()).size(), 10U);
        }
        if (::testing::Test::HasFailure()) return;
    }
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
    EXPECT_TRUE(std::isfinite(c.change));
    EXPECT_TRUE(std::isfinite(c.ratio) && c.ratio > 0);
    EXPECT_TRUE(!std::isnan(c.ci.low) && !std::isnan(c.ci.high));
    EXPECT_GE(c.ci.low, -1);
    EXPECT_LE(c.ci.low, c.ci.high);
    // With a handful of resamples the bootstrap's bounds may both lie on one side.
    if (c.method != Method::bca) {
        EXPECT_LE(c.ci.low, c.change + slack);
        EXPECT_GE(c.ci.high, c.change - slack);
    }
    EXPECT_TRUE(fine(c.se_log) && fine(c.df));
    EXPECT_TRUE(probability(c.p) && probability(c.faster.p) && probability(c.carryover_p));
    if (c.period) {
        EXPECT_TRUE(std::isfinite(c.period->effect) && probability(c.period->p));
    }
    if (c.hodges_lehmann) {
        EXPECT_TRUE(std::isfinite(c.hodges_lehmann->change));
        EXPECT_LE(c.hodges_lehmann->low, c.hodges_lehmann->high);
    }
    EXPECT_EQ(c.n_ab + c.n_ba, pairs.size());
    EXPECT_EQ(c.faster.n + c.faster.ties, pairs.size());
    EXPECT_LE(c.faster.k, c.faster.n);
    const auto by_a = [](const Pair& x, const Pair& y) { return x.a < y.a; };
    const auto [least, greatest] = std::minmax_element(pairs.begin(), pairs.end(), by_a);
    EXPECT_TRUE(c.a >= least->a && c.a <= greatest->a);
    for (const Warning& w : c.warnings)
        EXPECT_TRUE(!w.code.empty() && !w.text.empty());
}

TEST(AnyInput, CompareGivesAResultOrAnError) {
    static constexpr double kConfidence[] = {0.95, 0.5, 0.999999, 0.01, 0.0, 1.0};
    static constexpr double kMargin[] = {0.02, 1e-300, 1e300, 0.0};
    std::size_t compared = 0;
    in_any_case(300, [&](Any& any) {
        const auto pairs = any.pairs(0, 25, any.chance(60));
        Options options;
        options.method = any.of(kMethods);
        options.confidence = any.of(kConfidence);
        if (any.chance(50)) options.margin = any.of(kMargin);
        options.better = any.chance(50) ? Better::higher : Better::lower;
        expect_sound(compare(pairs, options), pairs);
        ++compared;
    });
    EXPECT_GT(compared, 60U) << "too many cases are errors";
    EXPECT_LT(compared, 240U) << "too few cases are errors";
}

// Only good values: then there is no excuse for an error.
TEST(AnyInput, GoodPairsAlwaysGiveAResult) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE(seed);
        const auto pairs = Any(seed).pairs(2, 23, true);
        for (const Method m : kMethods)
            expect_sound(compare(pairs, {.method = m}), pairs);
    }
}

TEST(AnyInput, HistoryGivesChangePointsOrAnError) {
    static constexpr double kWild[] = {1e300, -1e300, 700.0, 1e-310};
    static constexpr double kError[] = {0.01, 0.02, 0.5};
    static constexpr double kWildError[] = {1e-90, 1e90, 0.0, -1.0};
    in_any_case(100, [&](Any& any) {
        std::vector<Night> nights(any.below(60));
        const bool wild = any.chance(30);
        for (Night& night : nights) {
            night.log_ratio = 0.01 * (static_cast<double>(any.below(9)) - 4);
            night.se = any.of(kError);
            if (wild && any.chance(4)) night.log_ratio = any.of(kWild);
            if (wild && any.chance(2)) night.se = any.of(kWildError);
            if (wild && any.chance(1)) night.log_ratio = std::numeric_limits<double>::quiet_NaN();
        }
        auto found = e_divisive(nights, {.permutations = 19});
        const auto more = pelt(nights);
        found.insert(found.end(), more.begin(), more.end());
        for (const ChangePoint& change : found) {
            EXPECT_TRUE(change.index > 0 && change.index < nights.size());
            EXPECT_TRUE(!std::isnan(change.before) && !std::isnan(change.after));
            EXPECT_GT(change.se, 0);
            EXPECT_TRUE(probability(change.p));
        }
    });
}

TEST(AnyInput, TablesGiveAResultOrAnError) {
    static constexpr double kWild[] = {1e150, -700.0, 1e-300};
    in_any_case(100, [&](Any& any) {
        const std::size_t pairs = any.below(23);
        std::vector<TableRow> table(any.below(6), TableRow(pairs));
        for (TableRow& row : table) {
            for (auto& cell : row) {
                if (any.chance(93)) cell = 0.1 * (static_cast<double>(any.below(11)) - 5);
                if (any.chance(4)) cell = any.of(kWild);
            }
        }
        const MaxT found = max_t(table, 0.95, 1, 200);
        for (const auto& p : found.p)
            EXPECT_TRUE(probability(p));
        for (const LogInterval& interval : found.intervals)
            EXPECT_LE(interval.low, interval.high);
        const TableSign sign = table_sign_test(table, 1, 200);
        EXPECT_TRUE(probability(sign.p) && probability(sign.p_independent));
    });
}

TEST(AnyInput, PlansGiveANumberOrAnError) {
    static constexpr double kNumber[] = {0.02,   0.01,  1e-9, 1e9,  0.0, -0.5,
                                         1e-300, 1e300, 0.8,  0.95, 3.0};
    static constexpr std::size_t kPairs[] = {0, 3, 4, 16, 1000, 1'000'000};
    const auto attempt = [](const auto& f) {
        try {
            EXPECT_FALSE(std::isnan(static_cast<double>(f())));
        } catch (const std::invalid_argument& error) {
            EXPECT_GT(std::string(error.what()).size(), 10U);
        }
    };
    in_any_case(100, [&](Any& any) {
        const double sd = any.of(kNumber);
        const double target = any.of(kNumber);
        const double level = any.of(kNumber);
        const std::size_t n = any.of(kPairs);
        attempt([&] { return pairs_for_half_width(sd, target, level); });
        attempt([&] { return pairs_for_half_width_assured(sd, target, level, 0.8); });
        attempt([&] { return pairs_for_half_width_estimated(sd, 18, target, level); });
        attempt([&] { return pairs_after_pilot(sd, 20, target, level); });
        attempt([&] { return half_width_of(n, sd, level); });
        attempt([&] { return power_of(n, target, sd, level); });
        attempt([&] { return pairs_for_power(target, sd, 0.8, level); });
        attempt([&] { return minimum_detectable_change(n, sd, level); });
        const TostPlan plan{.sd = sd, .ratio = 1, .low = 1 / (1 + target), .high = 1 + target};
        attempt([&] { return tost_power(plan, n); });
        attempt([&] { return pairs_for_tost(plan, level); });
    });
}

TEST(AnyInput, PrintedRowsAreCheckedOrRefused) {
    in_any_case(300, [](Any& any) {
        const auto digits = [&] {
            std::string text(any.below(6), ' ');
            for (char& c : text)
                c = std::string_view("019.+-% ")[any.below(8)];
            return text;
        };
        PublishedRow row;
        try {
            row.change = parse_printed(digits());
            row.low = parse_printed(digits());
            row.high = parse_printed(digits());
            row.a = parse_printed(digits());
            row.b = parse_printed(digits());
        } catch (const std::invalid_argument&) {
            // the fields read so far are checked all the same
        }
        const RowCheck found = check_published_row(row, {.pairs = 16});
        EXPECT_TRUE(fine(found.se) && probability(found.p));
        EXPECT_EQ(found.reason.empty(), found.verdict == Consistency::consistent);
    });
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
