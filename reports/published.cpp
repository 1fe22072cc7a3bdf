#include "reports/published.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <vector>

#include "reports/grid.h"

namespace vsb::reports {
namespace {

using datasets::PublishedFigures;
using datasets::PublishedTable;

std::vector<std::string_view> cells_of(std::string_view line) {
    std::vector<std::string_view> cells;
    while (true) {
        const std::size_t end = line.find('|');
        cells.push_back(line.substr(0, end));
        if (end == std::string_view::npos) return cells;
        line.remove_prefix(end + 1);
    }
}

std::map<std::string, std::size_t> widths_of(const PublishedTable& table) {
    std::map<std::string, std::size_t> widths;
    for (const PublishedFigures& row : table.rows) {
        for (const auto& [column, figure] : row.figures)
            widths[column] = std::max(widths[column], figure.size());
    }
    return widths;
}

// A figure is set flush where blanks stand before it anyway; none are put where none are printed.
std::string filled(std::string_view cell, const PublishedFigures& row,
                   const std::map<std::string, std::size_t>& widths) {
    std::string out;
    for (auto open = cell.find('{'); open != std::string_view::npos; open = cell.find('{')) {
        out += cell.substr(0, open);
        const auto close = cell.find('}', open);
        const std::string column(cell.substr(open + 1, close - open - 1));
        const std::string& figure = row.figures.at(column);
        const bool flush = column != "label" && (out.empty() || out.ends_with(", "));
        if (flush) out.append(widths.at(column) - figure.size(), ' ');
        out += figure;
        cell.remove_prefix(close + 1);
    }
    return out + std::string(cell);
}

Grid grid_of(const PublishedTable& table) {
    Grid grid;
    const auto widths = widths_of(table);
    for (const PublishedFigures& row : table.rows) {
        for (const std::string& line : row.layout) {
            std::vector<std::string> cells;
            for (const std::string_view cell : cells_of(line))
                cells.push_back(filled(cell, row, widths));
            grid.rows.push_back(std::move(cells));
        }
    }
    std::size_t columns = 0;
    for (const auto& cells : grid.rows)
        columns = std::max(columns, cells.size());
    for (const std::string& line : table.headings)
        columns = std::max(columns, cells_of(line).size());
    grid.columns.resize(columns, {"", Align::left, 0});
    for (auto& cells : grid.rows)
        cells.resize(columns);
    for (std::size_t i = 0; i < table.headings.size(); ++i) {
        const auto cells = cells_of(table.headings[i]);
        for (std::size_t c = 0; c < columns; ++c) {
            if (i > 0) grid.columns[c].head += '\n';
            if (c < cells.size()) grid.columns[c].head += cells[c];
        }
    }
    return grid;
}

std::string lines(const std::vector<std::string>& text) {
    std::string out;
    for (const std::string& line : text)
        out += line + "\n";
    return out;
}

}  // namespace

std::string published_tables(const datasets::PublishedSeries& series) {
    std::string out;
    for (const PublishedTable& table : series.tables) {
        if (!out.empty()) out += "\n";
        for (const std::string& section : table.section)
            out += section + "\n\n";
        if (!table.caption.empty()) out += lines(table.caption) + "\n";
        // As wide as it was printed: nothing of it may be left out.
        std::string text = draw(grid_of(table), std::numeric_limits<std::size_t>::max()).text;
        if (table.headings.empty()) text.erase(0, text.find('\n') + 1);
        out += text;
    }
    return out;
}

}  // namespace vsb::reports
