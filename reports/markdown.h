#pragma once
// A comparison for issue trackers and wikis.

#include <string>

#include "reports/comparison.h"

namespace vsb::reports {

// GitHub-flavoured Markdown: what was compared, notes, tables, environment. Text of hostile origin
// is escaped: it starts no markup, no HTML, no link and no table cell.
std::string markdown(const Comparison& comparison);

}  // namespace vsb::reports
