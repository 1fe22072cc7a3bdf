#include "stats/confidence_sequence.h"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "stats/moments.h"

namespace vsb::stats {

LogInterval confidence_sequence(std::span<const double> d, double confidence, double c) {
    if (d.empty()) throw std::invalid_argument("confidence sequence: no values");
    if (!(confidence > 0 && confidence < 1)) {
        throw std::invalid_argument("confidence sequence: a confidence between 0 and 1 is needed");
    }
    if (!(c > 0) || !std::isfinite(c)) {
        throw std::invalid_argument("confidence sequence: c must be above 0");
    }
    const Moments m = moments(d);
    const double n = static_cast<double>(m.n);
    const double r = c * c / (n + c * c);
    // K - 1 by expm1: K comes close to 1 in long runs.
    const double log_k = -2 / n * std::log((1 - confidence) * std::sqrt(r));
    const double k_less_one = std::expm1(log_k);
    const double left = 1 - r - r * k_less_one;  // 1 - r K
    double reach = std::numeric_limits<double>::infinity();
    if (m.n >= 2 && left > 0) {
        reach = m.sd() / std::sqrt(n) * std::sqrt((n - 1) * k_less_one / left);
    }
    return {m.mean - reach, m.mean + reach, confidence};
}

}  // namespace vsb::stats
