#include "reports/grid.h"

#include <fmt/format.h>

#include <algorithm>

namespace vsb::reports {
namespace {

std::vector<std::string_view> lines_of(std::string_view head) {
    std::vector<std::string_view> lines;
    while (true) {
        const std::size_t end = head.find('\n');
        lines.push_back(head.substr(0, end));
        if (end == std::string_view::npos) return lines;
        head.remove_prefix(end + 1);
    }
}

std::size_t head_width(const std::vector<std::string_view>& lines) {
    std::size_t width = 0;
    for (const std::string_view line : lines)
        width = std::max(width, line.size());
    return width;
}

std::size_t width_of(const Grid& grid, std::size_t column) {
    std::size_t width = head_width(lines_of(grid.columns[column].head));
    for (const auto& row : grid.rows)
        width = std::max(width, row[column].size());
    return width;
}

void end_line(std::string& text) {
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
}

void add_cell(std::string& out, std::string_view cell, const Column& column, std::size_t width) {
    if (column.align == Align::left) {
        out += fmt::format("{:<{}}", cell, width);
    } else {
        out += fmt::format("{:>{}}", cell, width);
    }
}

struct Layout {
    std::size_t indent = 2;
    std::size_t gap = 2;
    std::vector<bool> shown;
};

std::size_t total(const Layout& layout, const std::vector<std::size_t>& widths) {
    std::size_t sum = layout.indent;
    std::size_t count = 0;
    for (std::size_t c = 0; c < widths.size(); ++c) {
        if (!layout.shown[c]) continue;
        sum += widths[c];
        ++count;
    }
    return sum + layout.gap * (count == 0 ? 0 : count - 1);
}

// Tightens, then drops, until it fits; false when nothing is left to drop.
bool fit(const Grid& grid, const std::vector<std::size_t>& widths, std::size_t width,
         Layout& layout) {
    while (true) {
        for (const auto& [indent, gap] :
             {std::pair{2U, 2U}, std::pair{2U, 1U}, std::pair{0U, 1U}}) {
            layout.indent = indent;
            layout.gap = gap;
            if (total(layout, widths) <= width) return true;
        }
        std::size_t victim = grid.columns.size();
        for (std::size_t c = 0; c < grid.columns.size(); ++c) {
            if (!layout.shown[c] || grid.columns[c].droppable == 0) continue;
            if (victim == grid.columns.size() ||
                grid.columns[c].droppable < grid.columns[victim].droppable) {
                victim = c;
            }
        }
        if (victim == grid.columns.size()) return false;
        layout.shown[victim] = false;
    }
}

// Of the columns shown; 0 when none may go.
int lowest_droppable(const Grid& grid, const std::vector<bool>& shown) {
    int lowest = 0;
    for (std::size_t c = 0; c < grid.columns.size(); ++c) {
        const int number = grid.columns[c].droppable;
        if (shown[c] && number > 0 && (lowest == 0 || number < lowest)) lowest = number;
    }
    return lowest;
}

std::string draw_table(const Grid& grid, const std::vector<std::size_t>& widths,
                       const Layout& layout) {
    std::string text;
    const auto add_row = [&](const auto& cell_of) {
        std::string line(layout.indent, ' ');
        bool first = true;
        for (std::size_t c = 0; c < grid.columns.size(); ++c) {
            if (!layout.shown[c]) continue;
            if (!first) line += std::string(layout.gap, ' ');
            first = false;
            add_cell(line, cell_of(c), grid.columns[c], widths[c]);
        }
        end_line(line);
        text += line;
    };
    std::vector<std::vector<std::string_view>> heads;
    std::size_t height = 0;
    for (std::size_t c = 0; c < grid.columns.size(); ++c) {
        heads.push_back(lines_of(grid.columns[c].head));
        if (layout.shown[c]) height = std::max(height, heads.back().size());
    }
    for (std::size_t i = 0; i < height; ++i) {
        add_row([&](std::size_t c) {
            const std::string_view line = i < heads[c].size() ? heads[c][i] : "";
            return fmt::format("{:<{}}", line, head_width(heads[c]));
        });
    }
    for (const auto& row : grid.rows) {
        add_row([&](std::size_t c) { return std::string_view(row[c]); });
    }
    return text;
}

std::string draw_stacked(const Grid& grid, std::size_t width) {
    std::string text;
    for (const auto& row : grid.rows) {
        text += wrap(row.front(), width, "  ", "    ");
        std::string line;
        for (std::size_t c = 1; c < row.size(); ++c) {
            std::string head = grid.columns[c].head;
            std::replace(head.begin(), head.end(), '\n', ' ');
            if (!line.empty()) line += ", ";
            line += fmt::format("{} {}", head, row[c].substr(row[c].find_first_not_of(' ')));
        }
        text += wrap(line, width, "      ", "      ");
    }
    return text;
}

// What wrap() sets without a break: a word, or a part of one that is too long for a line.
struct Piece {
    std::string_view text;
    bool glued = false;  // no blank before it
};

std::vector<Piece> pieces_of(std::string_view text, std::size_t room) {
    std::vector<Piece> pieces;
    while (true) {
        text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
        if (text.empty()) return pieces;
        std::string_view word = text.substr(0, text.find(' '));
        text.remove_prefix(word.size());
        bool glued = false;
        while (word.size() > room) {
            const std::size_t comma = word.substr(0, room).rfind(',');
            const std::size_t cut = comma == std::string_view::npos ? room : comma + 1;
            pieces.push_back({word.substr(0, cut), glued});
            word.remove_prefix(cut);
            glued = true;
        }
        pieces.push_back({word, glued});
    }
}

}  // namespace

Drawn draw(const Grid& grid, std::size_t width) {
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < grid.columns.size(); ++c)
        widths.push_back(width_of(grid, c));
    Layout layout;
    layout.shown.assign(grid.columns.size(), true);
    if (fit(grid, widths, width, layout)) return {draw_table(grid, widths, layout), layout.shown};
    return {draw_stacked(grid, width), std::vector<bool>(grid.columns.size(), true)};
}

std::string draw_folded(const Grid& grid, std::size_t width) {
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < grid.columns.size(); ++c)
        widths.push_back(width_of(grid, c));
    Layout layout;
    layout.shown.assign(grid.columns.size(), true);
    std::vector<std::size_t> below;
    while (total(layout, widths) > width) {
        const int lowest = lowest_droppable(grid, layout.shown);
        if (lowest == 0) break;
        for (std::size_t c = 0; c < grid.columns.size(); ++c) {
            if (grid.columns[c].droppable == lowest) layout.shown[c] = false;
        }
    }
    if (!fit(grid, widths, width, layout)) return draw_stacked(grid, width);
    std::string text = draw_table(grid, widths, layout);
    for (std::size_t c = 1; c < grid.columns.size(); ++c) {
        if (!layout.shown[c]) below.push_back(c);
    }
    for (auto next = below.begin(); next != below.end();) {
        Layout more;
        more.shown.assign(grid.columns.size(), false);
        more.shown[0] = true;
        do {
            more.shown[*next++] = true;
            if (next == below.end()) break;
            Layout wider = more;
            wider.shown[*next] = true;
            if (total(wider, widths) > width) break;
        } while (true);
        Grid part;
        for (std::size_t c = 0; c < grid.columns.size(); ++c) {
            if (more.shown[c])
                part.columns.push_back({grid.columns[c].head, grid.columns[c].align});
        }
        for (const auto& row : grid.rows) {
            part.rows.emplace_back();
            for (std::size_t c = 0; c < row.size(); ++c) {
                if (more.shown[c]) part.rows.back().push_back(row[c]);
            }
        }
        text += "\n" + draw(part, width).text;
    }
    return text;
}

std::string wrap(std::string_view text, std::size_t width, std::string_view first,
                 std::string_view rest) {
    const std::size_t prefix = std::max(first.size(), rest.size());
    const std::size_t room = width > prefix ? width - prefix : 1;
    std::string out;
    std::string line(first);
    bool empty = true;  // no word on this line yet
    for (const Piece& piece : pieces_of(text, room)) {
        const std::size_t blank = empty || piece.glued ? 0 : 1;
        if (!empty && line.size() + blank + piece.text.size() > width) {
            end_line(line);
            out += line;
            line = rest;
            empty = true;
        }
        if (!empty && !piece.glued) line += ' ';
        line += piece.text;
        empty = false;
    }
    end_line(line);
    return out + line;
}

}  // namespace vsb::reports
