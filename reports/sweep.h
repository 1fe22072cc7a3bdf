#pragma once
// A comparison whose workloads are points of a sweep: parameters that take several values within
// one experiment, every point with its own A/B pairs, and which point is the best.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "datasets/paired_series.h"
#include "reports/comparison.h"
#include "reports/plot.h"
#include "stats/best_point.h"

namespace vsb::reports {

struct SweepAxis {
    std::string name;                 // "max-pkts", "payload"
    std::vector<std::string> values;  // as in the workloads' names, in order of first appearance
};

struct SweepPoint {
    const Row* row = nullptr;     // the headline's, into the comparison
    const Row* count = nullptr;   // as TableRow::count
    std::vector<std::string> at;  // its value on each axis
};

// All points of one workload kind.
struct Sweep {
    std::string kind;
    std::string metric;
    std::string unit;
    bool model = false;  // of a virtual clock: nothing was measured
    std::string fixed;   // what does not vary but stands in every name: "256B"; may be empty
    std::vector<SweepAxis> axes;
    std::vector<SweepPoint> points;
    // Of points, in their order; absent when the pairs do not suffice, and then no_best says why.
    std::optional<stats::BestPoint> best;
    std::string no_best;
};

// One for every kind with two or more points that differ in a parameter, or in the payload alone.
// series is the comparison's input; draws come from `seed`. The comparison must outlive the answer.
// While it is interim nothing is said about the best.
std::vector<Sweep> sweeps(const Comparison& comparison,
                          std::span<const datasets::PairedSeries> series, std::uint64_t seed);

// Whether any workload's name has a parameter in it.
bool has_points(const Comparison& comparison);

// "max-pkts=16, payload=64B".
std::string point_text(const Sweep& sweep, std::size_t point);

// "the greatest change is at max-pkts=64 ...; not told from it: ...": one sentence, raw.
std::string best_text(const Comparison& comparison, const Sweep& sweep);

// Changes with their intervals over the last axis, one line for each combination of the others.
// Filled: the best and what cannot be told from it. No data: nothing to draw.
Plot sweep_plot(const Sweep& sweep);

}  // namespace vsb::reports
