#include "reports/csv.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "reports/escape.h"
#include "reports/facts.h"
#include "reports/figures.h"

namespace vsb::reports {
namespace {

constexpr std::string_view kHeader =
    "workload,metric,unit,method,better,n_ab,n_ba,a,b,ratio,change,ci_low,ci_high,confidence,se_"
    "log,"
    "df,p,p_adjusted,verdict,faster_k,faster_n,faster_p,period_effect,period_p,carryover_p,"
    "hodges_lehmann_change,hodges_lehmann_low,hodges_lehmann_high,simultaneous_low,simultaneous_"
    "high,"
    "warnings\n";

std::string codes(const std::vector<stats::Warning>& warnings) {
    std::string out;
    for (const stats::Warning& w : warnings)
        out += (out.empty() ? "" : " ") + w.code;
    return out;
}

std::string line_of(const Row& row, bool interim, bool model) {
    const stats::Comparison& r = row.result;
    const auto p = [interim](const std::optional<double>& value) {
        return interim ? std::string() : exact(value);
    };
    const auto& hl = r.hodges_lehmann;
    std::vector<stats::Warning> warnings = r.warnings;
    if (model) warnings.insert(warnings.begin(), {"model", ""});
    const std::vector<std::string> cells = {
        csv_cell(row.workload),
        csv_cell(row.metric),
        csv_cell(row.unit),
        std::string(stats::method_name(r.method)),
        r.better == stats::Better::higher ? "higher" : "lower",
        fmt::format("{}", r.n_ab),
        fmt::format("{}", r.n_ba),
        exact(r.a),
        exact(r.b),
        exact(r.ratio),
        exact(r.change),
        exact(r.ci.low),
        exact(r.ci.high),
        exact(r.confidence),
        exact(r.se_log),
        exact(r.df),
        p(r.p),
        p(row.p_adjusted),
        interim ? "" : std::string(stats::verdict_name(r.verdict)),
        fmt::format("{}", r.faster.k),
        fmt::format("{}", r.faster.n),
        p(r.faster.p),
        r.period ? exact(r.period->effect) : "",
        r.period ? p(r.period->p) : "",
        p(r.carryover_p),
        hl ? exact(hl->change) : "",
        hl ? exact(hl->low) : "",
        hl ? exact(hl->high) : "",
        row.simultaneous ? exact(row.simultaneous->low) : "",
        row.simultaneous ? exact(row.simultaneous->high) : "",
        csv_cell(codes(warnings)),
    };
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i)
        line += (i == 0 ? "" : ",") + cells[i];
    return line + "\n";
}

}  // namespace

std::string csv(const Comparison& comparison) {
    std::string out(kHeader);
    for (const Row& row : comparison.rows)
        out += line_of(row, comparison.interim, comparison.record && is_model(*comparison.record));
    return out;
}

}  // namespace vsb::reports
