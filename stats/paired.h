#pragma once
// Methods that look at the mean of d = ln(B/A) and not at the order of the pairs:
// mean(d) -+ q s/sqrt(n), with q of Student's t with n - 1 degrees of freedom (paired-t, the usual
// cover-letter figure) or of the normal distribution (normal, for comparing with tables that used
// it: under 30 pairs its interval is too narrow).

#include <optional>
#include <span>

#include "stats/log_interval.h"

namespace vsb::stats {

struct PairedFit {
    double theta = 0;
    double se = 0;
    std::optional<double> df;  // absent: the normal distribution

    LogInterval interval(double confidence) const;
    std::optional<double> p() const;  // two-sided; absent when se is 0
};

// Both throw std::invalid_argument with fewer than two values.
PairedFit fit_paired_t(std::span<const double> d);
PairedFit fit_normal(std::span<const double> d);

}  // namespace vsb::stats
