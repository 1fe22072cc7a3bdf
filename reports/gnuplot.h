#pragma once
// Draws plots with the gnuplot program.

#include <string>

#include "reports/plot.h"

namespace vsb::reports {

// A plotter that starts `program` (looked up in PATH) for each plot, without a shell, in a private
// temporary directory, with a deadline and a cap on its output. A program that is missing, fails,
// hangs or answers with anything but one <svg> comes back as Drawing::error; nothing is thrown.
Plotter gnuplot(std::string program = "gnuplot");

}  // namespace vsb::reports
