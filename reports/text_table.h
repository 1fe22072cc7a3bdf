#pragma once
// A comparison as the screen shows it.

#include <cstddef>
#include <string>

#include "reports/comparison.h"

namespace vsb::reports {

// Plain ASCII, one table per workload kind and metric, notes below. No line is longer than
// `columns` (at least 60 is assumed): what does not fit beside the headline columns (the robust
// column, faster k/n with its sign p, recv(), then p) stands in a second table below; nothing is
// left out. Payloads, signs and digits are those of cover_letter(). Names of hostile origin come
// out escaped and shortened. Interim comparisons are labelled and carry no p-values.
std::string text_table(const Comparison& comparison, std::size_t columns = 100);

}  // namespace vsb::reports
