#include "reports/notes.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/figures.h"
#include "reports/tables.h"

namespace vsb::reports {
namespace {

using stats::Warning;

// All rows that share a warning's code.
struct Gathered {
    std::string code;
    std::string text;  // of the first row
    bool varies = false;
    std::vector<const Row*> rows;
};

bool has(const std::vector<Warning>& warnings, const Warning& wanted) {
    return std::any_of(warnings.begin(), warnings.end(), [&](const Warning& w) {
        return w.code == wanted.code && w.text == wanted.text;
    });
}

const Row* headline_of(const Comparison& comparison, const Row& row) {
    for (const Row& other : comparison.rows) {
        if (other.headline && other.workload == row.workload) return &other;
    }
    return nullptr;
}

void gather(std::vector<Gathered>& all, const Row& row, const Warning& warning) {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const Gathered& g) { return g.code == warning.code; });
    if (found == all.end()) {
        all.push_back({warning.code, warning.text, false, {&row}});
        return;
    }
    found->varies = found->varies || found->text != warning.text;
    if (found->rows.back() != &row) found->rows.push_back(&row);
}

std::vector<Gathered> row_warnings(const Comparison& comparison) {
    std::vector<Gathered> all;
    for (const Table& table : tables(comparison)) {
        for (const TableRow& entry : table.rows) {
            const Row& row = *entry.row;
            const Row* headline = row.headline ? nullptr : headline_of(comparison, row);
            for (const Warning& warning : row.result.warnings) {
                if (row.unit == "1" && warning.code == "zero-variance") continue;
                if (headline != nullptr && has(headline->result.warnings, warning)) continue;
                gather(all, row, warning);
            }
        }
    }
    return all;
}

std::string sentence(const Comparison& comparison, const Gathered& gathered) {
    if (!gathered.varies) {
        return fmt::format("{}: {}", rows_text(comparison, gathered.rows), gathered.text);
    }
    const std::vector<const Row*> first = {gathered.rows.front()};
    const std::vector<const Row*> others(gathered.rows.begin() + 1, gathered.rows.end());
    // The same code twice on one row: nothing else to name.
    if (others.empty()) return fmt::format("{}: {}", rows_text(comparison, first), gathered.text);
    return fmt::format("{}: {}; the like in {}", rows_text(comparison, first), gathered.text,
                       rows_text(comparison, others));
}

std::vector<const Row*> headlines(const Comparison& comparison, stats::Verdict verdict) {
    std::vector<const Row*> rows;
    for (const Row& row : comparison.rows) {
        if (row.headline && row.result.verdict == verdict) rows.push_back(&row);
    }
    return rows;
}

bool holds_0(const Row* row) {
    return row->result.ci.low <= 0 && row->result.ci.high >= 0;
}

}  // namespace

std::string rows_text(const Comparison& comparison, const std::vector<const Row*>& rows) {
    std::string out;
    for (const Table& table : tables(comparison)) {
        std::string names;
        std::size_t named = 0;
        for (const TableRow& entry : table.rows) {
            if (std::find(rows.begin(), rows.end(), entry.row) == rows.end()) continue;
            if (named++ != 0) names += table.kind.empty() ? ", " : ",";
            names += entry.payload;
        }
        if (named == 0) continue;
        if (!out.empty()) out += ", ";
        const std::string metric = table.headline ? "" : " " + table.metric;
        if (table.kind.empty()) {
            out += names + metric;
        } else if (named == table.rows.size() && named > 2) {
            out += fmt::format("all {}{} rows", table.kind, metric);
        } else {
            out += fmt::format("{}/{}{}", table.kind, names, metric);
        }
    }
    return out;
}

std::vector<Note> notes(const Comparison& comparison) {
    std::vector<Note> out;
    if (comparison.interim) {
        out.push_back(
            {"interim", "the run is under way: these are estimates so far, not a result"});
    }
    for (const Warning& warning : comparison.warnings)
        out.push_back({warning.code, warning.text});
    for (const Gathered& gathered : row_warnings(comparison)) {
        out.push_back({gathered.code, sentence(comparison, gathered)});
    }
    std::vector<const Row*> open = headlines(comparison, stats::Verdict::inconclusive);
    const auto outside = std::stable_partition(open.begin(), open.end(), holds_0);
    const std::vector<const Row*> missed(outside, open.end());
    open.erase(outside, open.end());
    if (!open.empty()) {
        out.push_back({"interval-holds-0",
                       fmt::format("the interval holds 0 in {}: a difference was not shown, and "
                                   "neither was that there is none",
                                   rows_text(comparison, open))});
    }
    if (!missed.empty()) {
        out.push_back(
            {"inconclusive", fmt::format("not decided: {}", rows_text(comparison, missed))});
    }
    const std::vector<const Row*> within = headlines(comparison, stats::Verdict::equivalent);
    if (!within.empty() && comparison.margin) {
        out.push_back(
            {"within-margin",
             fmt::format("shown to differ by less than the margin of {}: {}",
                         plain_percent(*comparison.margin), rows_text(comparison, within))});
    }
    return out;
}

}  // namespace vsb::reports
