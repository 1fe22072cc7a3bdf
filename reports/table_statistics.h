#pragma once
// What concerns a comparison's headline rows together: adjusted p-values, simultaneous intervals,
// and the sign test of the whole table.

#include <span>

#include "reports/comparison.h"

namespace vsb::reports {

// Fills in p_adjusted, simultaneous and table_sign of `comparison`, whose rows were made from
// `series`. holm and bh adjust the rows' own p; maxt flips the signs of the same pairs over all
// rows. An adjusted p is never below the row's own, and a simultaneous interval holds it. A row
// without p (no spread, bca) is left out of the family. Random draws are from seed 1. Throws
// std::invalid_argument for an `adjust` that is none of none, holm, bh, maxt.
void add_table_statistics(Comparison& comparison, std::span<const datasets::PairedSeries> series,
                          const CompareOptions& options);

}  // namespace vsb::reports
