#include "reports/audit_any_input.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reports/audit.h"
#include "reports/audit_json.h"
#include "reports/audit_text.h"

namespace vsb::reports {

std::string broken_promise(const std::string& input) {
    const Audit found = audit(input, AuditOptions{16, {}, {}});
    const auto lines = static_cast<std::size_t>(std::ranges::count(input, '\n')) + 1;
    std::size_t last = 1;
    for (const AuditedRow& row : found.rows) {
        if (row.line < last || row.line > lines) return "a row stands on no line of its own";
        last = row.line;
        if (row.check.verdict != stats::Consistency::consistent && row.check.reason.empty()) {
            return "a verdict without a reason";
        }
    }
    if (found.consistent + found.inconsistent + found.not_checkable != found.rows.size()) {
        return "verdicts are not counted";
    }
    const std::string text = audit_text(found, 72);
    if (!std::ranges::all_of(text, [](char c) { return c == '\n' || (c >= 0x20 && c < 0x7f); })) {
        return "text that is not plain ASCII";
    }
    const auto json = nlohmann::json::parse(audit_json(found), nullptr, false);
    if (json.is_discarded() || json["rows"].size() != found.rows.size()) return "no valid JSON";
    return {};
}

}  // namespace vsb::reports
