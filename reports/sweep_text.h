#pragma once
// A sweep as text for a terminal.

#include <cstddef>
#include <string>
#include <vector>

#include "reports/sweep.h"

namespace vsb::reports {

// What A and B are, a line a point with its change and interval, where the best is, over two
// parameters the changes as a grid besides, and the notes. No line is longer than `columns` (at
// least 60) unless a figure alone is.
std::string sweep_text(const Comparison& comparison, const std::vector<Sweep>& sweeps,
                       std::size_t columns);

}  // namespace vsb::reports
