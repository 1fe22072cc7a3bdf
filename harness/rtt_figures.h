#pragma once
// Round trips as measurements: the mean first, then the order statistics that the number of
// samples can carry.

#include <cstdint>
#include <span>
#include <vector>

#include "datasets/records.h"

namespace vsb::harness {

// rtt_mean, rtt_min, rtt_p50, rtt_p90, rtt_p99, rtt_p99.9, rtt_p99.99, rtt_max, in us. A percentile
// is the sample of rank ceil(p n) (nearest rank), and is given only from n = 1/(1-p) samples on:
// with fewer it would be the maximum under another name.
// Throws std::invalid_argument without samples.
std::vector<datasets::Measurement> rtt_figures(std::span<const std::uint64_t> rtt_ns);

}  // namespace vsb::harness
