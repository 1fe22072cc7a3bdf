#pragma once
// A history for spreadsheets.

#include <string>

#include "reports/history.h"

namespace vsb::reports {

// As csv.h: a header, then one line a workload and night, oldest night first within a workload.
// `changed` is E when E-divisive puts the begin of a new level there, P when PELT does, EP when
// both do.
std::string history_csv(const History& history);

}  // namespace vsb::reports
