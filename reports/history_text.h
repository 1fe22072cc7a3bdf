#pragma once
// A history for a terminal or a mail.

#include <cstddef>
#include <string>

#include "reports/history.h"

namespace vsb::reports {

// ASCII, no line over `width` (60 at least): the gate's answer and its alarms first, warnings, then
// per workload its present level, its change points and its last `most_nights` nights (date,
// change, interval, SE), and what was left out and why.
std::string history_text(const History& history, std::size_t width = 100,
                         std::size_t most_nights = 14);

// What a nightly job mails: one line when all is well; else a line that says so and one for each
// alarm. ASCII; lines are not wrapped, since the first is a subject.
std::string history_summary(const History& history);

}  // namespace vsb::reports
