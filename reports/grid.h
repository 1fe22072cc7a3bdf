#pragma once
// Tables and paragraphs of plain ASCII text within a number of columns.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace vsb::reports {

enum class Align { left, right };

struct Column {
    std::string head;  // lines separated by '\n', one below the other from the left
    Align align = Align::right;
    int droppable = 0;  // 0: never left out; else the lowest number goes first
};

struct Grid {
    std::vector<Column> columns;
    std::vector<std::vector<std::string>> rows;  // one cell a column; ASCII, one line
};

struct Drawn {
    std::string text;         // every line ends in '\n', none in a blank
    std::vector<bool> shown;  // by column: false when left out for want of room
};

// Draws the grid with no line over `width`. First the gaps between columns and the indent shrink
// from two blanks to one, then droppable columns go; when even that is too wide, each row becomes a
// paragraph of "heading cell" pieces below its first cell.
Drawn draw(const Grid& grid, std::size_t width);

// Draws every column: those that do not fit beside each other, lowest `droppable` first and all of
// one number together, follow in further tables below, with the first column again. Columns with
// droppable 0 stay together, as tight as they must; when even they are too wide, rows become
// paragraphs. No line over `width`.
std::string draw_folded(const Grid& grid, std::size_t width);

// `text` as lines no longer than `width`, broken at blanks (a word too long for a line after its
// last comma, else anywhere), the first line after `first`, the others after `rest`. Ends in '\n'.
std::string wrap(std::string_view text, std::size_t width, std::string_view first = "",
                 std::string_view rest = "");

}  // namespace vsb::reports
