#pragma once
// An audit as JSON for programs.

#include <string>

#include "reports/audit.h"

namespace vsb::reports {

// schema "vsockbench.audit/1": consistent, inconsistent, not_checkable (counts), rows[] {label,
// caption, line, change, ci {low, high}, a, b, verdict, reason, pairs, se, p}. Fractions; null for
// what is not printed or not known; reason empty when consistent.
std::string audit_json(const Audit& audit);

}  // namespace vsb::reports
