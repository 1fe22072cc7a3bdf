#include "stats/change_points.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "stats/draws.h"
#include "stats/energy_split.h"
#include "stats/moments.h"
#include "stats/segments.h"

namespace vsb::stats {
namespace {

// Nearly normal: the sum of twelve uniforms less six.
double noise(Draws& random) {
    double sum = -6;
    for (int i = 0; i < 12; ++i)
        sum += static_cast<double>(random.below(1U << 20)) / (1U << 20);
    return sum;
}

// Levels one after another, each for `each` nights.
std::vector<Night> nights_of(const std::vector<double>& levels, std::size_t each, double sd,
                             std::uint64_t seed) {
    Draws random(seed);
    std::vector<Night> out;
    for (const double level : levels) {
        for (std::size_t i = 0; i < each; ++i)
            out.push_back({level + sd * noise(random), sd});
    }
    return out;
}

struct Plain {
    std::size_t at = 0;
    double statistic = -std::numeric_limits<double>::infinity();
};

Plain plain_split(const std::vector<double>& x, const std::vector<double>& w,
                  std::size_t shortest) {
    Plain best;
    for (std::size_t at = shortest; at + shortest <= x.size(); ++at) {
        double across = 0, left = 0, right = 0, wl = 0, wr = 0, sl = 0, sr = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            (i < at ? wl : wr) += w[i];
            (i < at ? sl : sr) += w[i] * w[i];
            for (std::size_t j = i + 1; j < x.size(); ++j) {
                const double distance = w[i] * w[j] * std::abs(x[i] - x[j]);
                (j < at ? left : i >= at ? right : across) += distance;
            }
        }
        const double energy =
            2 * across / (wl * wr) - 2 * left / (wl * wl - sl) - 2 * right / (wr * wr - sr);
        const double statistic = wl * wr / (wl + wr) * energy;
        if (statistic > best.statistic) best = {at, statistic};
    }
    return best;
}

TEST(EnergySplit, EqualsTheWrittenOutStatistic) {
    Draws random(5);
    for (int round = 0; round < 20; ++round) {
        const std::size_t n = 10 + random.below(30);
        std::vector<double> x(n);
        std::vector<double> w(n);
        for (std::size_t i = 0; i < n; ++i) {
            x[i] = 100 + static_cast<double>(random.below(round % 2 == 0 ? 4 : 1'000'000)) / 7;
            w[i] = round % 3 == 0 ? 1 : 0.5 + static_cast<double>(random.below(100)) / 50;
        }
        std::vector<std::uint32_t> order(n);
        std::iota(order.begin(), order.end(), 0U);
        const EnergySplit found = EnergySplitter(x, w, 3).best(order);
        const Plain want = plain_split(x, w, 3);
        EXPECT_NEAR(found.statistic, want.statistic, 1e-9 * (1 + std::abs(want.statistic)));
        EXPECT_EQ(found.at, want.at);
    }
}

// A night of twice the SE counts a quarter.
TEST(Segments, NightsCountByTheirSquaredStandardErrors) {
    const std::vector<Night> nights{{0.0, 0.01}, {0.1, 0.02}, {1.0, 0.02}, {2.0, 0.01}};
    const auto weights = relative_weights(nights);
    EXPECT_NEAR(weights[0] / weights[1], 4, 1e-12);
    EXPECT_NEAR(weights[0] + weights[1] + weights[2] + weights[3], 4, 1e-12);
    const auto point = describe(nights, std::vector<std::size_t>{2}).at(0);
    EXPECT_NEAR(point.before, 0.1 / 5, 1e-12);
    EXPECT_NEAR(point.after, (1 + 2 * 4) / 5.0, 1e-12);
    EXPECT_NEAR(point.se, std::sqrt(2 * 0.01 * 0.01 * 4 / 5), 1e-12);
}

TEST(EDivisive, FindsPlantedLevels) {
    const auto nights = nights_of({0, 0.05, 0.02}, 30, 0.01, 3);
    const auto found = e_divisive(nights);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_NEAR(static_cast<double>(found[0].index), 30, 1);
    EXPECT_NEAR(static_cast<double>(found[1].index), 60, 1);
    EXPECT_NEAR(found[0].before, 0, 0.006);
    EXPECT_NEAR(found[0].after, 0.05, 0.006);
    EXPECT_NEAR(found[1].after, 0.02, 0.006);
    EXPECT_NEAR(found[0].se, 0.01 * std::sqrt(2.0 / 30), 0.0003);
    EXPECT_EQ(found[0].p, 1.0 / 200);  // none of 199 shuffles came near: (1 + 0)/(1 + 199)
}

TEST(EDivisive, SeldomFindsWhatIsNotThere) {
    int false_alarms = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        false_alarms += e_divisive(nights_of({0}, 40, 0.01, seed)).empty() ? 0 : 1;
    }
    EXPECT_LE(false_alarms, 12);  // 5 expected; more than 12 has a chance of 0.1%
    EXPECT_GE(false_alarms, 1);   // a test that never fires has no level either
}

TEST(EDivisive, ConstantAndShortSeriesHaveNone) {
    const std::vector<Night> constant(50, Night{0.01, 0.002});
    EXPECT_TRUE(e_divisive(constant).empty());
    EXPECT_TRUE(e_divisive({}).empty());
    EXPECT_TRUE(e_divisive(nights_of({0, 1}, 4, 0.01, 1)).empty());
}

TEST(EDivisive, SeedDecidesAndErrorsNameTheNight) {
    const auto nights = nights_of({0, 0.008}, 15, 0.01, 8);
    const auto once = e_divisive(nights, {.alpha = 0.9, .seed = 3});
    const auto again = e_divisive(nights, {.alpha = 0.9, .seed = 3});
    ASSERT_FALSE(once.empty());
    EXPECT_EQ(once[0].p, again[0].p);
    std::vector<Night> bad = nights;
    bad[3].log_ratio = std::numeric_limits<double>::quiet_NaN();
    try {
        e_divisive(bad);
        FAIL();
    } catch (const std::invalid_argument& error) {
        EXPECT_NE(std::string(error.what()).find("night 4"), std::string::npos);
    }
    bad = nights;
    bad[0].se = 0;
    EXPECT_THROW(pelt(bad), std::invalid_argument);
    EXPECT_THROW(e_divisive(nights, {.min_segment = 1}), std::invalid_argument);
}

// The same minimum by going through every last segment of every prefix.
std::vector<std::size_t> plain_segmentation(const std::vector<Night>& nights, std::size_t shortest,
                                            double penalty) {
    const double excess = excess_scatter(nights);
    const auto cost = [&](std::size_t begin, std::size_t end) {
        double w = 0, m = 0;
        for (std::size_t i = begin; i < end; ++i) {
            w += 1 / (nights[i].se * nights[i].se);
            m += nights[i].log_ratio / (nights[i].se * nights[i].se);
        }
        double sum = 0;
        for (std::size_t i = begin; i < end; ++i) {
            sum += std::pow((nights[i].log_ratio - m / w) / nights[i].se, 2) / excess;
        }
        return sum;
    };
    const std::size_t n = nights.size();
    std::vector<double> best(n + 1, std::numeric_limits<double>::infinity());
    std::vector<std::size_t> last(n + 1, 0);
    best[0] = -penalty;
    for (std::size_t end = shortest; end <= n; ++end) {
        for (std::size_t begin = 0; begin + shortest <= end; ++begin) {
            const double total = best[begin] + cost(begin, end) + penalty;
            if (total < best[end]) {
                best[end] = total;
                last[end] = begin;
            }
        }
    }
    std::vector<std::size_t> out;
    for (std::size_t end = n; last[end] > 0; end = last[end])
        out.insert(out.begin(), last[end]);
    return out;
}

TEST(Pelt, EqualsTheFullSearch) {
    Draws random(11);
    std::size_t changes = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        std::vector<Night> nights;
        double level = 0;
        for (int i = 0; i < 60; ++i) {
            if (random.below(12) == 0) level += 0.02 * noise(random);
            const double se = 0.004 * (1 + random.below(3));
            nights.push_back({level + se * noise(random), se});
        }
        const std::size_t shortest = 1 + seed % 5;
        const double penalty = 2 + static_cast<double>(seed % 7);
        std::vector<std::size_t> found;
        for (const auto& change : pelt(nights, {.min_segment = shortest, .penalty = penalty})) {
            found.push_back(change.index);
        }
        EXPECT_EQ(found, plain_segmentation(nights, shortest, penalty)) << seed;
        changes += found.size();
    }
    EXPECT_GT(changes, 100U);
}

TEST(Pelt, FindsPlantedLevelsAndWeighsNights) {
    auto nights = nights_of({0, 0.05, 0.02}, 30, 0.01, 3);
    const auto found = pelt(nights);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].index, 30U);
    EXPECT_NEAR(static_cast<double>(found[1].index), 60, 2);
    EXPECT_FALSE(found[0].p.has_value());
    // Three wild nights are a change, unless their own SEs say that they know nothing.
    auto quiet = nights_of({0}, 40, 0.01, 5);
    for (std::size_t i = 20; i < 23; ++i)
        quiet[i].log_ratio = 0.2;
    EXPECT_FALSE(pelt(quiet).empty());
    for (std::size_t i = 20; i < 23; ++i)
        quiet[i].se = 0.2;
    EXPECT_TRUE(pelt(quiet).empty());
}

// Nights that scatter three times their SE are still one level.
TEST(Pelt, AllowsForMoreScatterThanTheSesSay) {
    int alarms = 0;
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        auto nights = nights_of({0}, 60, 0.01, seed);
        for (Night& night : nights)
            night.se = 0.01 / 3;
        EXPECT_NEAR(excess_scatter(nights), 9, 6);
        alarms += pelt(nights).empty() ? 0 : 1;
    }
    EXPECT_LE(alarms, 8);
    EXPECT_EQ(excess_scatter(std::vector<Night>(10, Night{0.0, 0.1})), 1);
}

TEST(Pelt, ShortSeriesHaveNoneAndOptionsAreChecked) {
    EXPECT_TRUE(pelt({}).empty());
    EXPECT_TRUE(pelt(std::vector<Night>(3, Night{0.1, 0.1})).empty());
    EXPECT_THROW(pelt({}, {.min_segment = 0}), std::invalid_argument);
    EXPECT_THROW(pelt({}, {.penalty = -1.0}), std::invalid_argument);
}

}  // namespace
}  // namespace vsb::stats
