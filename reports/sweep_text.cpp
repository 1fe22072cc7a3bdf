#include "reports/sweep_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/batch_ends.h"
#include "reports/escape.h"
#include "reports/facts.h"
#include "reports/figures.h"
#include "reports/grid.h"
#include "reports/notes.h"
#include "reports/tables.h"

namespace vsb::reports {
namespace {

constexpr std::size_t kLongestText = 400;
constexpr std::size_t kNarrowest = 60;
constexpr std::size_t kLongestCell = 30;

std::string cell(const std::string& text) {
    return shorten(ascii(text), kLongestCell);
}

// "*": the best; "~": not told from it.
const char* mark(const Sweep& sweep, std::size_t point) {
    if (!sweep.best) return "";
    return point == sweep.best->best ? "*" : sweep.best->candidate[point] ? "~" : "";
}

std::string count_title(const Sweep& sweep) {
    Table table;
    for (const SweepPoint& point : sweep.points)
        table.rows.push_back({point.row, point.count, ""});
    return count_name(table);
}

Grid list_of(const Comparison& comparison, const Sweep& sweep) {
    Grid grid;
    for (const SweepAxis& axis : sweep.axes)
        grid.columns.push_back({cell(axis.name), Align::right, 0});
    const std::string count = count_title(sweep);
    grid.columns.push_back({"A", Align::right, 3});
    grid.columns.push_back({"B", Align::right, 3});
    grid.columns.push_back({"change", Align::right, 0});
    grid.columns.push_back(
        {fmt::format("[{} CI]", plain_percent(comparison.confidence)), Align::left, 0});
    if (sweep.best) grid.columns.push_back({"", Align::left, 0});
    if (sweep.best) grid.columns.push_back({"best in", Align::right, 2});
    if (!count.empty()) grid.columns.push_back({count + " A/B", Align::right, 1});
    std::size_t low = 0;
    std::size_t high = 0;
    for (const SweepPoint& point : sweep.points) {
        low = std::max(low, percent(point.row->result.ci.low).size());
        high = std::max(high, percent(point.row->result.ci.high).size());
    }
    for (std::size_t p = 0; p < sweep.points.size(); ++p) {
        const SweepPoint& point = sweep.points[p];
        const stats::Comparison& r = point.row->result;
        std::vector<std::string> cells;
        for (const std::string& value : point.at)
            cells.push_back(cell(value));
        cells.push_back(mean(r.a, sweep.unit));
        cells.push_back(mean(r.b, sweep.unit));
        cells.push_back(percent(r.change));
        cells.push_back(interval(r.ci, low, high));
        if (sweep.best) cells.emplace_back(mark(sweep, p));
        if (sweep.best) cells.push_back(fmt::format("{:.0f}%", 100 * sweep.best->share[p]));
        if (!count.empty()) {
            cells.push_back(point.count == nullptr
                                ? "-"
                                : fmt::format("{}/{}",
                                              mean(point.count->result.a, point.count->unit),
                                              mean(point.count->result.b, point.count->unit)));
        }
        grid.rows.push_back(std::move(cells));
    }
    return grid;
}

// The changes alone: the first axis down, the second across.
Grid square_of(const Sweep& sweep) {
    Grid grid;
    grid.columns.push_back(
        {cell(sweep.axes[0].name) + " \\ " + cell(sweep.axes[1].name), Align::right, 0});
    for (const std::string& value : sweep.axes[1].values)
        grid.columns.push_back({cell(value), Align::right, 0});
    for (const std::string& down : sweep.axes[0].values) {
        std::vector<std::string> cells{cell(down)};
        for (const std::string& across : sweep.axes[1].values) {
            const auto at = std::ranges::find_if(sweep.points, [&](const SweepPoint& point) {
                return point.at[0] == down && point.at[1] == across;
            });
            if (at == sweep.points.end()) {
                cells.emplace_back("-");
                continue;
            }
            const auto p = static_cast<std::size_t>(at - sweep.points.begin());
            cells.push_back(fmt::format("{}{:1}", percent(at->row->result.change), mark(sweep, p)));
        }
        grid.rows.push_back(std::move(cells));
    }
    return grid;
}

// What ended each point's batches, of every state that makes any.
std::string ends_text(const Comparison& comparison, const Sweep& sweep, std::size_t columns) {
    std::string out;
    for (const bool of_a : {true, false}) {
        std::string lines;
        for (std::size_t p = 0; p < sweep.points.size(); ++p) {
            const std::string ends = batch_ends(comparison, sweep.points[p].row->workload, of_a);
            if (ends.empty()) continue;
            lines += wrap(fmt::format("{}: {}", ascii(point_text(sweep, p)), ends), columns, "  ",
                          "    ");
        }
        if (!lines.empty()) {
            out += fmt::format("\nbatches of {}, and what ended them\n", of_a ? "A" : "B") + lines;
        }
    }
    return out;
}

std::string title_of(const Sweep& sweep) {
    const bool higher = sweep.points.front().row->result.better == stats::Better::higher;
    const std::string fixed = sweep.fixed.empty() ? "" : ", " + shorten(ascii(sweep.fixed), 60);
    return fmt::format("{}{}{}: {} ({}), {} is better", sweep.model ? "MODEL: " : "",
                       cell(sweep.kind), fixed, cell(sweep.metric), cell(sweep.unit),
                       higher ? "higher" : "lower");
}

}  // namespace

std::string sweep_text(const Comparison& comparison, const std::vector<Sweep>& sweeps,
                       std::size_t columns) {
    columns = std::max(columns, kNarrowest);
    std::string out = wrap(fmt::format("{}{}{}: change of B against A at each point",
                                       model_tag(comparison), comparison.interim ? "INTERIM " : "",
                                       shorten(ascii(comparison.experiment), 60)),
                           columns);
    for (const Fact& fact : state_facts(comparison)) {
        out += wrap(shorten(ascii(fact.text), kLongestText), columns,
                    fmt::format("  {}: ", fact.label), "    ");
    }
    out += wrap(
        fmt::format("{}; {}, {} intervals, each of its point by itself", pairs_text(comparison),
                    stats::method_name(comparison.method), plain_percent(comparison.confidence)),
        columns, "  ", "    ");
    if (sweeps.empty()) out += "\nno points: nothing varies\n";
    for (const Sweep& sweep : sweeps) {
        out +=
            "\n" + wrap(title_of(sweep), columns) + draw(list_of(comparison, sweep), columns).text;
        if (sweep.axes.size() == 2) {
            out += "\nchange\n" + draw(square_of(sweep), columns).text;
        }
        if (sweep.best) {
            out += "\n  * the best, ~ not told from it; best in: share of the resamplings\n";
        }
        out += "\n" + wrap(ascii(best_text(comparison, sweep)), columns, "  ", "    ");
        out += ends_text(comparison, sweep, columns);
    }
    const std::vector<Note> all = notes(comparison);
    if (!all.empty()) out += "\nnotes\n";
    for (const Note& note : all)
        out += wrap(shorten(ascii(note.text), kLongestText), columns, "  - ", "    ");
    return out;
}

}  // namespace vsb::reports
