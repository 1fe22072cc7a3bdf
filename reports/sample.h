#pragma once
// Comparisons made by hand for the tests of the writers: no statistics, every figure as typed.

#include "reports/comparison.h"

namespace vsb::reports::sample {

// Two workloads of each kind in the manner of a published series, with a record.
Comparison typical();

// Every workload of that series, payloads 64B to 64K.
Comparison full();

// A CSV's: no record, names without a kind, one metric and no unit.
Comparison imported();

// Hostile in every text: control and bidi characters, markup, formulas, 10,000 characters, bytes
// that are not UTF-8; and figures at the ends of what a double holds.
Comparison hostile();

}  // namespace vsb::reports::sample
