#include "reports/audit_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "reports/escape.h"
#include "reports/figures.h"
#include "reports/grid.h"

namespace vsb::reports {
namespace {

constexpr std::size_t kLongestLabel = 40;
constexpr std::size_t kLongestCaptionShown = 120;

std::string label_of(const AuditedRow& row) {
    return shorten(ascii(row.label), kLongestLabel);
}

std::string table(std::span<const AuditedRow> rows, std::size_t columns) {
    Grid grid;
    grid.columns = {{"line", Align::right, 0},   {"row", Align::left, 0},
                    {"change", Align::right, 0}, {"SE of log", Align::right, 2},
                    {"p", Align::right, 3},      {"pairs", Align::right, 1},
                    {"verdict", Align::left, 0}};
    for (const AuditedRow& row : rows) {
        const stats::RowCheck& check = row.check;
        grid.rows.push_back({fmt::format("{}", row.line), label_of(row),
                             row.change.empty() ? "-" : ascii(row.change),
                             check.se ? fmt::format("{:.5f}", *check.se) : "-", p_value(check.p),
                             check.se && row.pairs ? fmt::format("{}", *row.pairs) : "-",
                             std::string(stats::consistency_name(check.verdict))});
    }
    return draw(grid, columns).text;
}

// A reason that rows have in common is given once.
std::string reasons(std::span<const AuditedRow> rows, std::size_t columns) {
    std::string out;
    for (auto row = rows.begin(); row != rows.end(); ++row) {
        const std::string& reason = row->check.reason;
        const auto same = [&](const AuditedRow& other) { return other.check.reason == reason; };
        if (reason.empty() || std::any_of(rows.begin(), row, same)) continue;
        const auto others = std::count_if(row + 1, rows.end(), same);
        const std::string more = others > 0 ? fmt::format(" and {} more", others) : "";
        out +=
            wrap(fmt::format("line {}, {}{}: {}", row->line, label_of(*row), more, ascii(reason)),
                 columns, "  - ", "    ");
    }
    return out;
}

}  // namespace

std::string audit_text(const Audit& audit, std::size_t columns) {
    columns = std::max<std::size_t>(columns, 60);
    std::string out;
    const std::span<const AuditedRow> rows(audit.rows);
    for (std::size_t begin = 0; begin < rows.size();) {
        std::size_t end = begin + 1;
        while (end < rows.size() && rows[end].caption == rows[begin].caption)
            ++end;
        const auto part = rows.subspan(begin, end - begin);
        const std::string caption = shorten(ascii(part.front().caption), kLongestCaptionShown);
        if (!caption.empty()) out += wrap(caption, columns);
        out += table(part, columns) + reasons(part, columns) + "\n";
        begin = end;
    }
    const auto count = [&](std::size_t n, const char* what) {
        return fmt::format("{} {}", n, what);
    };
    out += fmt::format(
        "{} {}: {}, {}, {}\n", audit.rows.size(), audit.rows.size() == 1 ? "row" : "rows",
        count(audit.consistent, "consistent"), count(audit.inconsistent, "inconsistent"),
        count(audit.not_checkable, "not checkable"));
    return out;
}

}  // namespace vsb::reports
