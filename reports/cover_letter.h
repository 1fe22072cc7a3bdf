#pragma once
// A comparison as the performance section of a patch series' cover letter.

#include <string>

#include "reports/comparison.h"

namespace vsb::reports {

// Plain ASCII, no line over 72 columns, in the layout of published vsock and vhost series: what A
// and B are, how and where they were measured, one table per workload kind, and what to doubt.
// What the record does not hold is not claimed; a comparison of a CSV has tables and method only.
std::string cover_letter(const Comparison& comparison);

}  // namespace vsb::reports
