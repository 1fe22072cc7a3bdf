#pragma once
// A comparison for spreadsheets.

#include <string>

#include "reports/comparison.h"

namespace vsb::reports {

// RFC 4180 with "\n" line ends: a header, then one line per row of the comparison. Fractions, not
// percent, in full precision; a number that does not exist is an empty cell. A text cell that a
// spreadsheet would take for a formula starts with an apostrophe. Not the format that
// datasets::read_csv takes: that one holds runs, this one holds results.
std::string csv(const Comparison& comparison);

}  // namespace vsb::reports
