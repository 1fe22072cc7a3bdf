#include "reports/audit_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace vsb::reports {
namespace {

using Json = nlohmann::ordered_json;

Json number(const std::optional<double>& value) {
    return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

Json number(const std::optional<stats::Printed>& value) {
    return value ? number(std::optional(value->value)) : Json(nullptr);
}

}  // namespace

std::string audit_json(const Audit& audit) {
    Json out;
    out["schema"] = "vsockbench.audit/1";
    out["consistent"] = audit.consistent;
    out["inconsistent"] = audit.inconsistent;
    out["not_checkable"] = audit.not_checkable;
    out["rows"] = Json::array();
    for (const AuditedRow& row : audit.rows) {
        Json one;
        one["label"] = row.label;
        one["caption"] = row.caption;
        one["line"] = row.line;
        one["change"] = number(row.printed.change);
        one["ci"] = {{"low", number(row.printed.low)}, {"high", number(row.printed.high)}};
        one["a"] = number(row.printed.a);
        one["b"] = number(row.printed.b);
        one["verdict"] = stats::consistency_name(row.check.verdict);
        one["reason"] = row.check.reason;
        one["pairs"] = row.pairs ? Json(*row.pairs) : Json(nullptr);
        one["se"] = number(row.check.se);
        one["p"] = number(row.check.p);
        out["rows"].push_back(std::move(one));
    }
    return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace vsb::reports
