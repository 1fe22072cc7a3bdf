#include "reports/table_grid.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/escape.h"
#include "reports/figures.h"

namespace vsb::reports {
namespace {

struct Widths {
    std::size_t change = 0;
    std::size_t low = 0;
    std::size_t high = 0;
};

// An estimate and its interval of one row; absent where the row has none.
using PointOf = std::optional<stats::PointInterval> (*)(const Row& row);

std::optional<stats::PointInterval> change_of(const Row& row) {
    return stats::PointInterval{row.result.change, row.result.ci.low, row.result.ci.high};
}

std::optional<stats::PointInterval> robust_of(const Row& row) {
    return row.result.hodges_lehmann;
}

Widths widths_of(const Table& table, PointOf point_of) {
    Widths widths;
    for (const TableRow& entry : table.rows) {
        const auto point = point_of(*entry.row);
        if (!point) continue;
        widths.change = std::max(widths.change, percent(point->change).size());
        widths.low = std::max(widths.low, percent(point->low).size());
        widths.high = std::max(widths.high, percent(point->high).size());
    }
    return widths;
}

std::string point_text(const std::optional<stats::PointInterval>& point, const Widths& widths) {
    if (!point) return "-";
    return fmt::format("{:>{}} {}", percent(point->change), widths.change,
                       interval({point->low, point->high}, widths.low, widths.high));
}

}  // namespace

std::string cell_text(const TableRow& entry, const std::string& unit, Cell cell) {
    const Row& row = *entry.row;
    const stats::Comparison& result = row.result;
    switch (cell) {
        case Cell::payload:
            return entry.payload;
        case Cell::a:
            return mean(result.a, unit);
        case Cell::b:
            return mean(result.b, unit);
        case Cell::change:
            return point_text(change_of(row), {});
        case Cell::pairs:
            return fmt::format("{}+{}", result.n_ab, result.n_ba);
        case Cell::p:
            return p_value(row.p_adjusted ? row.p_adjusted : result.p);
        case Cell::simultaneous:
            return row.simultaneous ? interval(*row.simultaneous) : "-";
        case Cell::hodges_lehmann:
            return point_text(robust_of(row), {});
        case Cell::sign_p:
            return p_value(result.faster.p);
        case Cell::faster:
            return faster(result.faster);
        case Cell::count:
            if (entry.count == nullptr) return "-";
            return fmt::format("{}/{}", mean(entry.count->result.a, entry.count->unit),
                               mean(entry.count->result.b, entry.count->unit));
        case Cell::beside:
            return row.beside ? interval(row.beside->ci) : "-";
        case Cell::verdict:
            return std::string(stats::verdict_name(result.verdict));
    }
    return "";
}

std::string p_head(const Comparison& comparison, const Table& table) {
    const bool adjusted = std::any_of(table.rows.begin(), table.rows.end(), [](const TableRow& e) {
        return e.row->p_adjusted.has_value();
    });
    return adjusted ? fmt::format("p ({})", comparison.adjust) : "p";
}

Grid grid_of(const Table& table, const std::vector<GridColumn>& columns) {
    const Widths change = widths_of(table, change_of);
    const Widths robust = widths_of(table, robust_of);
    Grid grid;
    for (const GridColumn& column : columns) {
        const bool text = column.cell == Cell::payload || column.cell == Cell::verdict ||
                          column.cell == Cell::change || column.cell == Cell::beside ||
                          column.cell == Cell::hodges_lehmann;
        grid.columns.push_back({column.head, text ? Align::left : Align::right, column.droppable});
    }
    for (const TableRow& entry : table.rows) {
        std::vector<std::string> cells;
        for (const GridColumn& column : columns) {
            if (column.cell == Cell::payload) {
                cells.push_back(shorten(ascii(entry.payload), kLongestName));
            } else if (column.cell == Cell::change) {
                cells.push_back(point_text(change_of(*entry.row), change));
            } else if (column.cell == Cell::hodges_lehmann) {
                cells.push_back(point_text(robust_of(*entry.row), robust));
            } else {
                cells.push_back(cell_text(entry, table.unit, column.cell));
            }
        }
        grid.rows.push_back(std::move(cells));
    }
    return grid;
}

}  // namespace vsb::reports
