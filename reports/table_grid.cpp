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

Widths widths_of(const Table& table) {
    Widths widths;
    for (const TableRow& entry : table.rows) {
        const stats::Comparison& result = entry.row->result;
        widths.change = std::max(widths.change, percent(result.change).size());
        widths.low = std::max(widths.low, percent(result.ci.low).size());
        widths.high = std::max(widths.high, percent(result.ci.high).size());
    }
    return widths;
}

std::string change_text(const stats::Comparison& result, const Widths& widths) {
    return fmt::format("{:>{}} {}", percent(result.change), widths.change,
                       interval(result.ci, widths.low, widths.high));
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
            return change_text(result, {});
        case Cell::pairs:
            return fmt::format("{}+{}", result.n_ab, result.n_ba);
        case Cell::p:
            return p_value(row.p_adjusted ? row.p_adjusted : result.p);
        case Cell::faster:
            return faster(result.faster);
        case Cell::recv:
            if (entry.recv == nullptr) return "-";
            return fmt::format("{}/{}", mean(entry.recv->result.a, "1"),
                               mean(entry.recv->result.b, "1"));
        case Cell::verdict:
            return std::string(stats::verdict_name(result.verdict));
    }
    return "";
}

Grid grid_of(const Table& table, const std::vector<GridColumn>& columns) {
    const Widths widths = widths_of(table);
    Grid grid;
    for (const GridColumn& column : columns) {
        const bool text = column.cell == Cell::payload || column.cell == Cell::verdict ||
                          column.cell == Cell::change;
        grid.columns.push_back({column.head, text ? Align::left : Align::right, column.droppable});
    }
    for (const TableRow& entry : table.rows) {
        std::vector<std::string> cells;
        for (const GridColumn& column : columns) {
            if (column.cell == Cell::payload) {
                cells.push_back(shorten(ascii(entry.payload), kLongestName));
            } else if (column.cell == Cell::change) {
                cells.push_back(change_text(entry.row->result, widths));
            } else {
                cells.push_back(cell_text(entry, table.unit, column.cell));
            }
        }
        grid.rows.push_back(std::move(cells));
    }
    return grid;
}

}  // namespace vsb::reports
