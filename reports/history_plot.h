#pragma once
// The trend of one workload as a plot.

#include "reports/history.h"
#include "reports/plot.h"

namespace vsb::reports {

// Each night's change with its interval against its date; a line for each level that E-divisive
// found, a dotted rule where PELT puts a change, a red one where an alarm began. Of more than 400
// nights, means of neighbours. Nights without a date that reads as one, or with a change that no
// scale holds, are left out. workload: index into history.workloads.
Plot trend_plot(const History& history, std::size_t workload);

}  // namespace vsb::reports
