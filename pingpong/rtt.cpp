#include "pingpong/rtt.h"

#include <algorithm>
#include <stdexcept>

namespace vsb::pingpong {

RttSummary summarize(const std::vector<std::uint64_t>& samples_ns) {
    if (samples_ns.empty()) throw std::invalid_argument("there are no round-trip times");
    std::vector<std::uint64_t> sorted = samples_ns;
    std::sort(sorted.begin(), sorted.end());
    RttSummary summary;
    summary.min_ns = sorted.front();
    summary.max_ns = sorted.back();
    unsigned long long sum = 0;
    for (const std::uint64_t one : sorted)
        sum += one;
    const std::uint64_t n = sorted.size();
    summary.mean_ns = static_cast<double>(sum) / static_cast<double>(n);
    summary.percentiles = {{"p50", 50, 100, {}},
                           {"p90", 90, 100, {}},
                           {"p99", 99, 100, {}},
                           {"p99_9", 999, 1000, {}},
                           {"p99_99", 9999, 10000, {}}};
    for (Percentile& one : summary.percentiles) {
        const std::uint64_t above = one.denominator - one.numerator;
        if (n * above < one.denominator) continue;
        const std::uint64_t rank = (n * one.numerator + one.denominator - 1) / one.denominator;
        one.ns = sorted[rank - 1];
    }
    return summary;
}

}  // namespace vsb::pingpong
