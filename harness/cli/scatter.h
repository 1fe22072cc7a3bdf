#pragma once
// How much the log ratios of recorded pairs scatter: what every plan starts from.

#include <cstddef>
#include <optional>

#include "datasets/paired_series.h"

namespace vsb::cli {

struct Scatter {
    double sd = 0;  // of ln(B/A) within its order; 0 where all pairs agree
    double df = 0;
    std::size_t pairs = 0;
};

// Absent with fewer than two pairs, or where a value is zero or negative and has no logarithm. With
// fewer than two pairs of an order a period effect counts as scatter.
std::optional<Scatter> scatter_of(const datasets::PairedSeries& series);

}  // namespace vsb::cli
