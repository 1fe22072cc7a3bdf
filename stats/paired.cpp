#include "stats/paired.h"

#include <cmath>
#include <stdexcept>

#include "stats/distributions.h"
#include "stats/moments.h"

namespace vsb::stats {

LogInterval PairedFit::interval(double confidence) const {
    const double upper = (1 + confidence) / 2;
    const double quantile = df ? t_quantile(upper, *df) : normal_quantile(upper);
    return {theta - quantile * se, theta + quantile * se, confidence};
}

std::optional<double> PairedFit::p() const {
    if (se <= 0) return std::nullopt;
    return df ? t_two_sided_p(theta / se, *df) : normal_two_sided_p(theta / se);
}

PairedFit fit_normal(std::span<const double> d) {
    if (d.size() < 2) throw std::invalid_argument("paired: two pairs are the least");
    const Moments m = moments(d);
    return {m.mean, m.sd() / std::sqrt(static_cast<double>(m.n)), std::nullopt};
}

PairedFit fit_paired_t(std::span<const double> d) {
    PairedFit fit = fit_normal(d);
    fit.df = static_cast<double>(d.size() - 1);
    return fit;
}

}  // namespace vsb::stats
