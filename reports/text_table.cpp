#include "reports/text_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/escape.h"
#include "reports/facts.h"
#include "reports/figures.h"
#include "reports/grid.h"
#include "reports/notes.h"
#include "reports/table_grid.h"
#include "reports/tables.h"

namespace vsb::reports {
namespace {

constexpr std::size_t kLongestText = 400;
constexpr std::size_t kNarrowest = 60;
constexpr std::size_t kNamedMetrics = 6;
// What stands in a second table below where there is no room: first what supports the headline,
// then p.
constexpr int kAside = 1;
constexpr int kBeside = 2;

std::string title_of(const Table& table) {
    const std::string kind = shorten(ascii(table.kind), kLongestName);
    const std::string metric = shorten(ascii(table.metric), kLongestName);
    const std::string unit = shorten(ascii(table.unit), kLongestName);
    std::string title = kind;
    if (!metric.empty()) title += (title.empty() ? "" : ": ") + metric;
    if (!unit.empty()) title += fmt::format(" ({})", unit == "1" ? "count" : unit);
    const bool higher = table.rows.front().row->result.better == stats::Better::higher;
    if (!title.empty()) title += ", ";
    return fmt::format("{}{} is better", title, higher ? "higher" : "lower");
}

bool same_pairs(const Table& table) {
    const stats::Comparison& first = table.rows.front().row->result;
    return std::all_of(table.rows.begin(), table.rows.end(), [&](const TableRow& entry) {
        return entry.row->result.n_ab == first.n_ab && entry.row->result.n_ba == first.n_ba;
    });
}

std::vector<GridColumn> columns_of(const Comparison& comparison, const Table& table) {
    std::vector<GridColumn> columns = {
        {Cell::payload, table.kind.empty() ? "workload" : "payload"},
        {Cell::a, "A"},
        {Cell::b, "B"},
        {Cell::change, fmt::format("change [{} CI]", plain_percent(comparison.confidence))},
    };
    const auto any = [&](auto has) {
        return std::any_of(table.rows.begin(), table.rows.end(), has);
    };
    const std::string confidence = plain_percent(comparison.confidence);
    if (any([](const TableRow& e) { return e.row->simultaneous.has_value(); })) {
        columns.push_back(
            {Cell::simultaneous, fmt::format("all rows [{} CI]", confidence), kAside});
    }
    if (const std::string beside = beside_name(table); !beside.empty()) {
        columns.push_back({Cell::beside, fmt::format("{} [{} CI]", beside, confidence), kAside});
    }
    const auto has_p = [](const TableRow& e) { return e.row->p_adjusted || e.row->result.p; };
    if (!comparison.interim && any(has_p)) {
        columns.push_back({Cell::p, p_head(comparison, table), kBeside});
    }
    if (any([](const TableRow& e) { return e.row->result.hodges_lehmann.has_value(); })) {
        columns.push_back(
            {Cell::hodges_lehmann, fmt::format("Hodges-Lehmann [{} CI]", confidence), kAside});
    }
    columns.push_back({Cell::faster, "faster", kAside});
    if (!comparison.interim) columns.push_back({Cell::sign_p, "sign p", kAside});
    if (!same_pairs(table)) columns.push_back({Cell::pairs, "AB+BA", kAside});
    if (const std::string count = count_name(table); !count.empty()) {
        columns.push_back({Cell::count, count + " A/B", kAside});
    }
    if (!comparison.interim) columns.push_back({Cell::verdict, "verdict"});
    return columns;
}

std::string heading(const Comparison& comparison, std::size_t columns) {
    std::string out;
    const std::string name = shorten(ascii(comparison.experiment), kLongestName);
    out +=
        wrap(fmt::format("{}{}{}: change of B against A", model_tag(comparison),
                         comparison.interim ? "INTERIM " : "", name.empty() ? "comparison" : name),
             columns);
    for (const Fact& fact : state_facts(comparison)) {
        out += wrap(shorten(ascii(fact.text), kLongestText), columns,
                    fmt::format("  {}: ", fact.label), "    ");
    }
    out += wrap(
        fmt::format("{}; {}, {} intervals{}{}", pairs_text(comparison),
                    stats::method_name(comparison.method), plain_percent(comparison.confidence),
                    comparison.margin ? ", margin " + plain_percent(*comparison.margin) : "",
                    comparison.adjust == "none" ? "" : ", p adjusted: " + comparison.adjust),
        columns, "  ", "    ");
    if (const std::string sign = table_sign_text(comparison); !sign.empty()) {
        out += wrap(sign, columns, "  ", "    ");
    }
    return out;
}

std::string means_text(const Comparison& comparison, std::size_t columns) {
    std::string out;
    for (const MeansOnly& means : comparison.means) {
        if (means.unit == "1" || comparison.record) continue;
        out +=
            wrap(fmt::format("{} {}: A {}, B {} {} (means; zero or negative values, no change)",
                             shorten(ascii(means.workload), kLongestName),
                             shorten(ascii(means.metric), kLongestName), mean(means.a, means.unit),
                             mean(means.b, means.unit), shorten(ascii(means.unit), kLongestName)),
                 columns, "  ", "    ");
    }
    return out.empty() ? "" : "\n" + out;
}

bool stands_beside(const std::vector<Table>& all, const Row* row) {
    return std::any_of(all.begin(), all.end(), [&](const Table& table) {
        return std::any_of(table.rows.begin(), table.rows.end(),
                           [&](const TableRow& entry) { return entry.count == row; });
    });
}

std::string left_out_text(const Comparison& comparison, std::size_t columns) {
    std::vector<std::string> names;
    const std::vector<Table> all = tables(comparison);
    for (const Row* row : rows_left_out(comparison)) {
        if (stands_beside(all, row)) continue;
        if (std::find(names.begin(), names.end(), row->metric) == names.end()) {
            names.push_back(row->metric);
        }
    }
    if (names.empty()) return "";
    std::string list;
    for (std::size_t i = 0; i < std::min(names.size(), kNamedMetrics); ++i) {
        list += (i == 0 ? "" : ", ") + shorten(ascii(names[i]), kLongestName);
    }
    if (names.size() > kNamedMetrics) {
        list += fmt::format(" and {} more", names.size() - kNamedMetrics);
    }
    return "\n" +
           wrap(fmt::format("recorded as well (--format json): {}", list), columns, "", "  ");
}

}  // namespace

std::string text_table(const Comparison& comparison, std::size_t columns) {
    columns = std::max(columns, kNarrowest);
    std::string out = heading(comparison, columns);
    if (comparison.rows.empty()) out += "\nno rows: nothing to compare\n";
    for (const Table& table : tables(comparison)) {
        out += "\n" + wrap(model_tag(comparison) + title_of(table), columns) +
               draw_folded(grid_of(table, columns_of(comparison, table)), columns);
    }
    out += means_text(comparison, columns);
    out += left_out_text(comparison, columns);
    const std::vector<Note> all = notes(comparison);
    if (!all.empty()) out += "\nnotes\n";
    for (const Note& note : all) {
        out += wrap(shorten(ascii(note.text), kLongestText), columns, "  - ", "    ");
    }
    return out;
}

}  // namespace vsb::reports
