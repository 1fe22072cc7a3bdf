#pragma once
// A history for programs.

#include <string>

#include "reports/history.h"

namespace vsb::reports {

// JSON, schema "vsockbench.history/1": name, target, a, gate {level, margin, look_back, window,
// alarms[], quiet}, nights[], workloads[] {name, metric, unit, better, level, nights_needed,
// points[], changes[], pelt[]}, left_out[], warnings[]. Fractions, not percent; what does not exist
// is null. `night` is an index into nights[].
std::string history_json(const History& history);

}  // namespace vsb::reports
