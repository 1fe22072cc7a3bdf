#pragma once
// One line of mail text as the cells of a table's row. Pure; takes any bytes.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vsb::reports {

enum class CellKind : std::uint8_t {
    number,    // "0.1290", "1.88Mpps"; text is the bare number, unit what clung to it
    percent,   // "+92.91%", "(+107%)"; text with its sign
    interval,  // "[+89.31%, +96.58%]", "+3.985% to +5.011%"; text and high are the bounds
    pair,      // "331/68"; text and high
    arrow,     // "->", "vs": between two means, says nothing
    unit,      // "MB/s" by itself
    dash,      // "-", "~", "n/a": a cell without a figure
    aside,     // other text in brackets
    word,
};

struct FoundCell {
    CellKind kind = CellKind::word;
    std::string text;  // numbers without thousands' commas, percents with one sign and one %
    std::string high;
    std::string unit;
};

struct FoundCells {
    std::vector<FoundCell> cells;
    bool open = false;  // a bracket is not closed on this line
};

// Blanks inside "[ +8.05%", "- 7.89 %" and the Unicode minus and blanks of mail programs are
// understood. The time it takes grows with the line's length alone.
FoundCells table_cells(std::string_view line);

}  // namespace vsb::reports
