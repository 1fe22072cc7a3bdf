#include "stats/tost_power.h"

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <stdexcept>

#include "stats/distributions.h"
#include "stats/least_even.h"

namespace vsb::stats {

namespace {

void check(const TostPlan& plan) {
    const bool fine = plan.sd > 0 && std::isfinite(plan.sd) && plan.ratio > 0 &&
                      std::isfinite(plan.ratio) && plan.low > 0 && plan.high > plan.low &&
                      std::isfinite(plan.high) && plan.alpha > 0 && plan.alpha < 0.5;
    if (fine) return;
    throw std::invalid_argument(
        "tost: needed are sd and ratio above 0, limits 0 < low < high, alpha between 0 and 0.5");
}

// ln of the density of x = sqrt(chi2(df)/df).
double log_density(double x, double df) {
    return std::log(2.0) + df / 2 * std::log(df / 2) - std::lgamma(df / 2) +
           (df - 1) * std::log(x) - df * x * x / 2;
}

}  // namespace

double sd_of_cv(double cv) {
    return std::sqrt(2 * std::log1p(cv * cv));
}

double tost_power(const TostPlan& plan, std::size_t pairs) {
    check(plan);
    if (pairs < 4 || pairs % 2 != 0) {
        throw std::invalid_argument("tost: an even number of at least 4 pairs is needed");
    }
    const double n = static_cast<double>(pairs);
    const double df = n - 2;
    const double se = plan.sd / std::sqrt(n);
    const double t = t_quantile(1 - plan.alpha, df);
    const double above = (std::log(plan.high) - std::log(plan.ratio)) / se;
    const double below = (std::log(plan.low) - std::log(plan.ratio)) / se;
    // x lies within ten standard deviations (1/sqrt(2 df)) of 1 but for 1e-20 of the mass.
    const double width = 10 / std::sqrt(2 * df);
    const double from = std::max(0.0, 1 - width);
    const double to = std::min((above - below) / (2 * t), 1 + width);
    if (to <= from) return 0;
    const auto integrand = [&](double x) {
        if (x <= 0) return 0.0;
        return (normal_cdf(above - t * x) - normal_cdf(below + t * x)) *
               std::exp(log_density(x, df));
    };
    constexpr int kPieces = 16;
    double power = 0;
    for (int i = 0; i < kPieces; ++i) {
        const double left = from + (to - from) * i / kPieces;
        const double right = from + (to - from) * (i + 1) / kPieces;
        power += boost::math::quadrature::gauss<double, 15>::integrate(integrand, left, right);
    }
    return std::clamp(power, 0.0, 1.0);
}

std::size_t pairs_for_tost(const TostPlan& plan, double power) {
    check(plan);
    if (!(power > 0 && power < 1)) {
        throw std::invalid_argument("tost: a power between 0 and 1 is needed");
    }
    if (!(plan.ratio > plan.low && plan.ratio < plan.high)) {
        throw std::invalid_argument("tost: a ratio on or outside the limits is never equivalent");
    }
    return least_even_pairs([&](std::size_t n) { return tost_power(plan, n) >= power; });
}

}  // namespace vsb::stats
