#pragma once
// One table of a comparison as a grid of cells; which columns it has is the writer's choice.

#include <string>
#include <vector>

#include "reports/comparison.h"
#include "reports/grid.h"
#include "reports/tables.h"

namespace vsb::reports {

enum class Cell {
    payload,
    a,
    b,
    change,
    simultaneous,  // interval for all headline rows at once
    pairs,
    p,  // adjusted where it was adjusted
    hodges_lehmann,
    faster,
    sign_p,
    count,   // of TableRow::count
    beside,  // a second method's interval
    verdict
};

struct GridColumn {
    Cell cell = Cell::payload;
    std::string head;
    int droppable = 0;
};

// The longest name a table shows before it is shortened.
inline constexpr std::size_t kLongestName = 60;

// Columns in the order given; cells of payload are ascii() and shortened, changes and intervals set
// flush within their column.
Grid grid_of(const Table& table, const std::vector<GridColumn>& columns);

// "p", or "p (holm)" where it is adjusted.
std::string p_head(const Comparison& comparison, const Table& table);

// One cell by itself, as markdown and HTML show it.
std::string cell_text(const TableRow& entry, const std::string& unit, Cell cell);

}  // namespace vsb::reports
