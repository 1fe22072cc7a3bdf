#include "reports/markdown.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/escape.h"
#include "reports/facts.h"
#include "reports/figures.h"
#include "reports/notes.h"
#include "reports/table_grid.h"
#include "reports/tables.h"

namespace vsb::reports {
namespace {

constexpr std::size_t kLongestText = 1000;

std::string safe(std::string_view text) {
    return markdown_text(cut(text, kLongestText));
}

std::string facts_text(const std::vector<Fact>& facts) {
    std::string out;
    for (const Fact& fact : facts)
        out += fmt::format("| {} | {} |\n", fact.label, safe(fact.text));
    return out;
}

std::string table_text(const Comparison& comparison, const Table& table) {
    std::vector<GridColumn> columns = {
        {Cell::payload, table.kind.empty() ? "workload" : "payload"},
        {Cell::a, "A"},
        {Cell::b, "B"},
        {Cell::change, fmt::format("change ({} CI)", plain_percent(comparison.confidence))},
        {Cell::pairs, "AB+BA"},
        {Cell::faster, "faster"}};
    if (std::any_of(table.rows.begin(), table.rows.end(),
                    [](const TableRow& entry) { return entry.row->simultaneous.has_value(); })) {
        columns.insert(columns.begin() + 4, {Cell::simultaneous, "all rows"});
    }
    if (!comparison.interim) columns.push_back({Cell::p, p_head(comparison, table)});
    if (const std::string beside = beside_name(table); !beside.empty()) {
        columns.insert(columns.begin() + 4, {Cell::beside, beside + " interval"});
    }
    if (const std::string count = count_name(table); !count.empty()) {
        columns.push_back({Cell::count, count + " A/B"});
    }
    if (!comparison.interim) columns.push_back({Cell::verdict, "verdict"});

    std::string title = model_tag(comparison) + safe(table.kind);
    if (!table.metric.empty()) title += (table.kind.empty() ? "" : ": ") + safe(table.metric);
    if (!table.unit.empty()) {
        title += fmt::format(" ({})", table.unit == "1" ? "count" : safe(table.unit));
    }
    std::string out = fmt::format("### {}\n\n|", title);
    std::string rule = "|";
    for (const GridColumn& column : columns) {
        out += fmt::format(" {} |", column.head);
        const bool text = column.cell == Cell::payload || column.cell == Cell::verdict;
        rule += text ? " :-- |" : " --: |";
    }
    out += "\n" + rule + "\n";
    for (const TableRow& entry : table.rows) {
        out += "|";
        for (const GridColumn& column : columns) {
            const std::string text = cell_text(entry, table.unit, column.cell);
            // Only the payload is not ours; escaping figures would litter them with backslashes.
            out += fmt::format(" {} |", column.cell == Cell::payload ? safe(text) : text);
        }
        out += "\n";
    }
    return out + "\n";
}

}  // namespace

std::string markdown(const Comparison& comparison) {
    std::string out =
        fmt::format("## {}{}{}\n\n", model_tag(comparison), comparison.interim ? "INTERIM: " : "",
                    comparison.experiment.empty() ? "Comparison" : safe(comparison.experiment));
    for (const Note& note : notes(comparison))
        out += fmt::format("- {}\n", safe(note.text));
    out += "\n";
    if (comparison.rows.empty()) out += "No rows: nothing to compare.\n\n";
    for (const Table& table : tables(comparison))
        out += table_text(comparison, table);
    out += "### Conditions\n\n| | |\n| :-- | :-- |\n";
    out += facts_text(state_facts(comparison));
    out += facts_text(method_facts(comparison));
    out += facts_text(machine_facts(comparison));
    return out;
}

}  // namespace vsb::reports
