#pragma once
// The input of a comparison: one metric of one workload, as whole pairs in run order.
// Produced by the store (whole pairs of ok trials only) and by the CSV reader.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace vsb::datasets {

enum class PairOrder : std::uint8_t { ab, ba };

struct PairedValue {
    std::int64_t pair = 0;  // number of the pair in the schedule or the file
    PairOrder order = PairOrder::ab;
    double a = 0;  // in the series' unit; finite; may be zero or negative (no ratio then)
    double b = 0;
};

struct PairedSeries {
    std::string workload;  // "fixed/64B", "rtt/4K"; a CSV's own name as it stands
    std::string metric;    // "throughput", "rtt_mean", "recv_calls", ...
    std::string unit;      // "Gbit/s", "us", "cycles/B", "1" for counts, "" when unknown
    bool higher_is_better = true;
    std::vector<PairedValue> pairs;
    std::size_t lost_a = 0;   // pairs left out because state A's run failed or was invalid
    std::size_t lost_b = 0;   // likewise state B's
    std::size_t skipped = 0;  // CSV pairs dropped by --skip-invalid
};

// Whether more of this metric is better: rates are, times, cycles and counts are not.
bool higher_is_better(const std::string& metric, const std::string& unit);

}  // namespace vsb::datasets
