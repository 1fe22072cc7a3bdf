#include "harness/rtt_figures.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace vsb::harness {
namespace {

// In ten-thousandths, so that ranks are exact.
struct Percentile {
    const char* metric;
    std::uint64_t of_10000;
};
constexpr std::array<Percentile, 5> kPercentiles{{
    {"rtt_p50", 5000},
    {"rtt_p90", 9000},
    {"rtt_p99", 9900},
    {"rtt_p99.9", 9990},
    {"rtt_p99.99", 9999},
}};

double us(double ns) {
    return ns / 1000;
}

}  // namespace

std::vector<datasets::Measurement> rtt_figures(std::span<const std::uint64_t> rtt_ns) {
    if (rtt_ns.empty()) throw std::invalid_argument("no round trips");
    std::vector<std::uint64_t> sorted(rtt_ns.begin(), rtt_ns.end());
    std::ranges::sort(sorted);
    long double sum = 0;
    for (const std::uint64_t sample : sorted)
        sum += static_cast<long double>(sample);
    const std::uint64_t n = sorted.size();
    std::vector<datasets::Measurement> figures;
    figures.push_back(
        {"rtt_mean", "us", us(static_cast<double>(sum / static_cast<long double>(n)))});
    figures.push_back({"rtt_min", "us", us(static_cast<double>(sorted.front()))});
    for (const Percentile& percentile : kPercentiles) {
        if (n * (10000 - percentile.of_10000) < 10000) continue;
        const std::uint64_t rank = (n * percentile.of_10000 + 9999) / 10000;
        figures.push_back({percentile.metric, "us", us(static_cast<double>(sorted[rank - 1]))});
    }
    figures.push_back({"rtt_max", "us", us(static_cast<double>(sorted.back()))});
    return figures;
}

}  // namespace vsb::harness
