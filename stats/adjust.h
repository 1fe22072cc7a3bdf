#pragma once
// p-values of a table with many rows, adjusted so that comparing them with alpha keeps the table's
// error: Holm 1979, Scand. J. Statist. 6:65 (any false finding, whatever the dependence), and
// Benjamini and Hochberg 1995, JRSS B 57:289 (the share of false findings among the findings).
// maxT, which uses the rows' dependence, is in max_t.h.

#include <span>
#include <vector>

namespace vsb::stats {

// Adjusted p in the order given, each at least its p and at most 1.
// Throws std::invalid_argument for a p outside [0, 1].
std::vector<double> holm(std::span<const double> p);
std::vector<double> benjamini_hochberg(std::span<const double> p);

}  // namespace vsb::stats
