#pragma once
// A comparison as the screen shows it.

#include <cstddef>
#include <string>

#include "reports/comparison.h"

namespace vsb::reports {

// Plain ASCII, one table per workload kind and metric, notes below. No line is longer than
// `columns` (at least 60 is assumed): a narrower screen first loses p, then recv(), then faster
// k/n, and at last the table form; what was left out is said. Payloads, signs and digits are those
// of cover_letter(). Names of hostile origin come out escaped and shortened. Interim comparisons
// are labelled and carry no p-values.
std::string text_table(const Comparison& comparison, std::size_t columns = 100);

}  // namespace vsb::reports
