#pragma once
// An audit as the screen shows it.

#include <cstddef>
#include <string>

#include "reports/audit.h"

namespace vsb::reports {

// Plain ASCII within `columns` (at least 60): one table per caption; below each why rows are
// inconsistent or not checkable; at last how many there are of each.
std::string audit_text(const Audit& audit, std::size_t columns = 100);

}  // namespace vsb::reports
