#pragma once
// Round-trip times: from raw samples to the figures that are published. Pure. Times in ns.

#include <cstdint>
#include <optional>
#include <vector>

namespace vsb::pingpong {

struct Percentile {
    const char* name;                 // "p99_9"
    std::uint64_t numerator;          // of the rank: 999
    std::uint64_t denominator;        // 1000
    std::optional<std::uint64_t> ns;  // none with fewer samples than the denominator says
};

struct RttSummary {
    double mean_ns = 0;
    std::uint64_t min_ns = 0;
    std::uint64_t max_ns = 0;
    std::vector<Percentile> percentiles;  // p50, p90, p99, p99_9, p99_99
};

// Percentiles by nearest rank: the smallest sample that at least the fraction of all samples does
// not exceed, so that each is a sample. One that fewer samples than 1 / (1 - fraction) would make
// the maximum in disguise is left out. Throws std::invalid_argument without samples.
RttSummary summarize(const std::vector<std::uint64_t>& samples_ns);

}  // namespace vsb::pingpong
