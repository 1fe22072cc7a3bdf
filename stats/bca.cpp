#include "stats/bca.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "stats/distributions.h"
#include "stats/draws.h"
#include "stats/moments.h"

namespace vsb::stats {

namespace {

// Two values at a draw, from a table of all n^2 sums, while the table stays within the cache.
constexpr std::size_t kLargestTable = 128;

double acceleration(std::span<const double> d, double mean) {
    // Leaving d_i out moves the mean by (mean - d_i)/(n - 1): the jackknife of a mean needs no loop
    // within the loop.
    CompensatedSum squares;
    CompensatedSum cubes;
    for (const double x : d) {
        const double r = x - mean;
        squares.add(r * r);
        cubes.add(r * r * r);
    }
    const double root = std::sqrt(squares.value());
    return root > 0 ? cubes.value() / (6 * root * root * root) : 0;
}

// `at` in [0, 1] of sorted values, as Efron's (B + 1) at-th smallest.
double order_statistic(std::vector<double>& values, double at) {
    const double place = std::floor(at * static_cast<double>(values.size() + 1));
    const auto index = static_cast<std::size_t>(
        std::clamp(place - 1, 0.0, static_cast<double>(values.size() - 1)));
    const auto there = values.begin() + static_cast<std::ptrdiff_t>(index);
    std::nth_element(values.begin(), there, values.end());
    return *there;
}

std::vector<double> resampled_means(std::span<const double> d, std::size_t draws, Draws& random) {
    const std::size_t n = d.size();
    const double scale = 1 / static_cast<double>(n);
    std::vector<double> means(draws);
    if (n > kLargestTable) {
        for (double& mean : means) {
            CompensatedSum sum;
            for (std::size_t i = 0; i < n; ++i)
                sum.add(d[random.below(n)]);
            mean = sum.value() * scale;
        }
        return means;
    }
    std::vector<double> two(n * n);
    for (std::size_t i = 0; i < n * n; ++i)
        two[i] = d[i / n] + d[i % n];
    for (double& mean : means) {
        double sum = n % 2 == 1 ? d[random.below(n)] : 0.0;
        for (std::size_t i = 0; i < n / 2; ++i)
            sum += two[random.below(n * n)];
        mean = sum * scale;
    }
    return means;
}

}  // namespace

Bca bca(std::span<const double> d, std::uint64_t seed, std::size_t draws) {
    if (d.size() < 2) throw std::invalid_argument("bca: two pairs are the least");
    if (draws == 0) draws = affordable_draws(kBcaDraws, d.size());
    Draws random(seed);
    Bca out;
    out.seed = seed;
    out.theta = moments(d).mean;
    out.acceleration = acceleration(d, out.theta);
    out.means = resampled_means(d, draws, random);
    out.se = moments(out.means).sd();
    // A resample of data on a grid often has the very mean of the data, but for rounding: a tie.
    const double rounding = 1e-12 * (std::abs(out.theta) + out.se);
    double below = 0;
    for (const double mean : out.means) {
        const double distance = mean - out.theta;
        below += distance < -rounding ? 1.0 : distance <= rounding ? 0.5 : 0.0;
    }
    const double total = static_cast<double>(draws) + 1;
    out.z0 = normal_quantile(std::clamp(below / static_cast<double>(draws), 1 / total,
                                        static_cast<double>(draws) / total));
    return out;
}

LogInterval Bca::interval(double confidence) const {
    const auto level = [this](double probability) {
        const double z = z0 + normal_quantile(probability);
        const double bend = 1 - acceleration * z;
        if (bend <= 0) return probability < 0.5 ? 0.0 : 1.0;
        return normal_cdf(z0 + z / bend);
    };
    std::vector<double> copy = means;
    const double tail = (1 - confidence) / 2;
    const double low = order_statistic(copy, level(tail));
    const double high = order_statistic(copy, level(1 - tail));
    return {low, high, confidence};
}

}  // namespace vsb::stats
