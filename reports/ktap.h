#pragma once
// A comparison as test results for kernel CI.

#include <string>

#include "reports/comparison.h"

namespace vsb::reports {

// KTAP version 1, one test per headline row: `not ok` when the row's verdict is slower; `ok` when
// it is faster or equivalent; with a margin an inconclusive row is `not ok` as well (it was not
// shown to stay inside), without one it is `ok` with SKIP, since nothing was claimed.
std::string ktap(const Comparison& comparison);

}  // namespace vsb::reports
