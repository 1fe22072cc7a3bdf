#include "stats/crossover.h"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "stats/distributions.h"
#include "stats/log_pairs.h"
#include "stats/moments.h"

namespace vsb::stats {

namespace {

struct TwoGroups {
    Moments ab;
    Moments ba;
    double df = 0;
    double pooled_sd = 0;
    double root = 0;  // sqrt(1/n1 + 1/n2)
};

TwoGroups split(std::span<const double> x, std::span<const Order> order) {
    if (x.size() != order.size()) {
        throw std::invalid_argument("crossover: as many orders as pairs are needed");
    }
    TwoGroups g;
    g.ab = moments(of_order(x, order, Order::ab));
    g.ba = moments(of_order(x, order, Order::ba));
    if (g.ab.n < 2 || g.ba.n < 2) {
        throw std::invalid_argument(
            "crossover: two pairs of each order are the least (use paired-t)");
    }
    g.df = static_cast<double>(x.size() - 2);
    g.pooled_sd = std::sqrt((g.ab.ss + g.ba.ss) / g.df);
    g.root = std::sqrt(1 / static_cast<double>(g.ab.n) + 1 / static_cast<double>(g.ba.n));
    return g;
}

std::optional<double> two_sided(double estimate, double se, double df) {
    if (se <= 0) return std::nullopt;
    return t_two_sided_p(estimate / se, df);
}

}  // namespace

LogInterval CrossoverFit::interval(double confidence) const {
    const double reach = se > 0 ? t_quantile((1 + confidence) / 2, df) * se : 0;
    return {theta - reach, theta + reach, confidence};
}

std::optional<double> CrossoverFit::p() const {
    return two_sided(theta, se, df);
}

std::optional<double> CrossoverFit::period_p() const {
    return two_sided(period, se, df);
}

CrossoverFit fit_crossover(std::span<const double> d, std::span<const Order> order) {
    const TwoGroups g = split(d, order);
    return {(g.ab.mean + g.ba.mean) / 2, (g.ab.mean - g.ba.mean) / 2, g.pooled_sd / 2 * g.root,
            g.df, g.pooled_sd};
}

std::optional<double> carryover_p(std::span<const double> totals, std::span<const Order> order) {
    const TwoGroups g = split(totals, order);
    // Totals that differ by rounding alone do not vary.
    const double scale = std::abs(g.ab.mean) + std::abs(g.ba.mean) + 1;
    if (g.pooled_sd <= 8 * std::numeric_limits<double>::epsilon() * scale) return std::nullopt;
    return two_sided(g.ab.mean - g.ba.mean, g.pooled_sd * g.root, g.df);
}

}  // namespace vsb::stats
