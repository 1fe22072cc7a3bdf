#pragma once
// A history as one self-contained page.

#include <string>

#include "reports/history.h"
#include "reports/plot.h"

namespace vsb::reports {

// As html(): no script, nothing loaded from elsewhere, light or dark as the reader has it. The
// gate's answer first, then a table of the workloads, a trend plot each, the newest nights, what
// was left out, and how the gate decides. An empty plotter: tables and a notice.
std::string history_html(const History& history, const Plotter& plotter);

}  // namespace vsb::reports
