#include "stats/bca.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "stats/distributions.h"
#include "stats/draws.h"
#include "stats/moments.h"

namespace vsb::stats {
namespace {

// No two resamples of these have the same mean, so that ties play no part.
const std::vector<double> kSkewed{0.0123456789, 0.0234567801, 0.0157913141, 0.0301357913,
                                  0.0122468101, 0.2512345671, 0.0181234987, 0.0229871234,
                                  0.4018273645, 0.0117283946};

// The textbook, step by step: leave each value out for the acceleration, sort, count.
LogInterval textbook(const std::vector<double>& d, std::vector<double> means, double confidence) {
    const auto mean_of = [](const std::vector<double>& x) {
        double sum = 0;
        for (const double v : x)
            sum += v;
        return sum / static_cast<double>(x.size());
    };
    std::vector<double> left_out;
    for (std::size_t i = 0; i < d.size(); ++i) {
        std::vector<double> rest = d;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
        left_out.push_back(mean_of(rest));
    }
    const double centre = mean_of(left_out);
    double squares = 0;
    double cubes = 0;
    for (const double x : left_out) {
        squares += std::pow(centre - x, 2);
        cubes += std::pow(centre - x, 3);
    }
    const double a = cubes / (6 * std::pow(squares, 1.5));
    std::sort(means.begin(), means.end());
    double below = 0;
    for (const double m : means)
        below += m < mean_of(d) ? 1 : 0;
    const double z0 = normal_quantile(below / static_cast<double>(means.size()));
    const auto bound = [&](double probability) {
        const double z = z0 + normal_quantile(probability);
        const double level = normal_cdf(z0 + z / (1 - a * z));
        return means[static_cast<std::size_t>(level * static_cast<double>(means.size() + 1)) - 1];
    };
    return {bound((1 - confidence) / 2), bound((1 + confidence) / 2), confidence};
}

TEST(Bca, EqualsTheTextbookOnTheSameResamples) {
    const Bca fit = bca(kSkewed, 11, 20'000);
    const LogInterval want = textbook(kSkewed, fit.means, 0.95);
    const LogInterval got = fit.interval(0.95);
    EXPECT_EQ(got.low, want.low);
    EXPECT_EQ(got.high, want.high);
    // Skewed to the right: the interval reaches further up than down.
    EXPECT_GT(got.high - fit.theta, 1.3 * (fit.theta - got.low));
}

// Two values, four resamples: half of them have the mean itself, and the rest lie evenly about it.
TEST(Bca, TiesWithTheMeanCountHalf) {
    EXPECT_NEAR(bca(std::vector{0.1, 0.3}, 1, 40'000).z0, 0, 0.02);
    EXPECT_NEAR(bca(std::vector{0.1, 0.3}, 1, 40'000).acceleration, 0, 1e-12);
}

TEST(Bca, ResampledMeansHaveTheSpreadOfAMean) {
    for (const std::size_t n : {2U, 9U, 10U, 200U}) {
        Draws random(n);
        std::vector<double> d(n);
        for (double& x : d)
            x = static_cast<double>(random.below(1000)) / 1000;
        const Bca fit = bca(d, 3, 40'000);
        const Moments m = moments(d);
        const double want =
            std::sqrt(m.ss / static_cast<double>(n)) / std::sqrt(static_cast<double>(n));
        EXPECT_NEAR(fit.se / want, 1, 0.02) << n;
        EXPECT_NEAR(moments(fit.means).mean, m.mean, 4 * want / 200) << n;
        // Every value is drawn, the last one too.
        EXPECT_GT(*std::max_element(fit.means.begin(), fit.means.end()), m.mean + 2 * want * 0.7);
    }
}

TEST(Bca, SeedDecides) {
    EXPECT_EQ(bca(kSkewed, 5, 1000).means, bca(kSkewed, 5, 1000).means);
    EXPECT_NE(bca(kSkewed, 5, 1000).means, bca(kSkewed, 6, 1000).means);
    EXPECT_EQ(bca(kSkewed, 5).means.size(), kBcaDraws);
    EXPECT_THROW(bca(std::vector<double>{1.0}, 1), std::invalid_argument);
}

TEST(Draws, BelowIsUniformAndInRange) {
    Draws random(1);
    std::vector<int> seen(7, 0);
    for (int i = 0; i < 70'000; ++i)
        ++seen.at(random.below(7));
    for (const int count : seen)
        EXPECT_NEAR(count, 10'000, 500);
    EXPECT_EQ(random.below(1), 0U);
}

// mt19937_64's 10,000th output from its default seed, as the C++ standard states it.
TEST(Draws, AreTheMersenneTwister) {
    Draws random(5489);
    std::uint64_t last = 0;
    for (int i = 0; i < 10'000; ++i)
        last = random.word();
    EXPECT_EQ(last, 9981545732273789042ULL);
}

}  // namespace
}  // namespace vsb::stats
