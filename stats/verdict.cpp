#include "stats/verdict.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "stats/distributions.h"

namespace vsb::stats {

namespace {

double upper_tail(double statistic, std::optional<double> df) {
    return df ? t_upper_tail(statistic, *df) : normal_cdf(-statistic);
}

double checked_bound(const LogEstimate& estimate, double margin) {
    if (!(margin > 0) || !std::isfinite(margin)) {
        throw std::invalid_argument("margin: a fraction above 0 is needed (0.02 for 2%)");
    }
    if (!(estimate.se > 0)) {
        throw std::invalid_argument("margin test: a standard error above 0 is needed");
    }
    return std::log1p(margin);
}

bool reaches(const LogInterval& interval, double confidence) {
    return interval.confidence >= confidence - 1e-12;
}

}  // namespace

Verdict verdict(const LogInterval& wide, const std::optional<LogInterval>& narrow,
                std::optional<double> margin, Better better, double confidence) {
    if (margin && narrow && reaches(*narrow, 2 * confidence - 1)) {
        const double bound = std::log1p(*margin);
        if (narrow->low > -bound && narrow->high < bound) return Verdict::equivalent;
    }
    if (!reaches(wide, confidence) || wide.holds(0)) return Verdict::inconclusive;
    return (wide.low > 0) == (better == Better::higher) ? Verdict::faster : Verdict::slower;
}

double equivalence_p(const LogEstimate& estimate, double margin) {
    const double bound = checked_bound(estimate, margin);
    return std::max(upper_tail((estimate.theta + bound) / estimate.se, estimate.df),
                    upper_tail((bound - estimate.theta) / estimate.se, estimate.df));
}

double non_inferiority_p(const LogEstimate& estimate, double margin, Better better) {
    const double bound = checked_bound(estimate, margin);
    const double gain = better == Better::higher ? estimate.theta : -estimate.theta;
    return upper_tail((gain + bound) / estimate.se, estimate.df);
}

}  // namespace vsb::stats
