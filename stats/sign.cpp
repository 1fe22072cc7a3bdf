#include "stats/sign.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "stats/distributions.h"

namespace vsb::stats {

SignTest sign_test(std::span<const double> d) {
    SignTest out;
    for (const double x : d)
        ++(x > 0 ? out.positive : x < 0 ? out.negative : out.zeros);
    const std::size_t n = out.positive + out.negative;
    if (n > 0) out.p = fair_binomial_two_sided_p(out.positive, n);
    return out;
}

LogInterval median_interval(std::span<const double> d, double confidence) {
    if (d.empty()) throw std::invalid_argument("median interval: no values");
    std::vector<double> sorted(d.begin(), d.end());
    std::sort(sorted.begin(), sorted.end());
    const std::size_t n = sorted.size();
    // The tail is rounded in (1 - 0.95)/2, and a k that meets it exactly is meant to count.
    const double tail = (1 - confidence) / 2 * (1 + 1e-12);
    const std::size_t k = fair_binomial_below(tail, n);
    if (k == 0) {
        const double reached = 1 - 2 * std::pow(0.5, static_cast<double>(n));
        return {sorted.front(), sorted.back(), reached};
    }
    return {sorted[k - 1], sorted[n - k], confidence};
}

}  // namespace vsb::stats
