#include "reports/escape.h"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>

namespace vsb::reports {
namespace {

struct Decoded {
    char32_t point = 0;
    std::size_t length = 0;  // 0: the byte starts no valid sequence
};

// Strict UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF (Unicode, table 3-7).
Decoded decode(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return {first, 1};
    std::size_t length = 0;
    char32_t point = 0;
    char32_t least = 0;
    if ((first & 0xe0) == 0xc0) {
        length = 2, point = first & 0x1fU, least = 0x80;
    } else if ((first & 0xf0) == 0xe0) {
        length = 3, point = first & 0x0fU, least = 0x800;
    } else if ((first & 0xf8) == 0xf0) {
        length = 4, point = first & 0x07U, least = 0x10000;
    } else {
        return {};
    }
    if (text.size() < length) return {};
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return {};
        point = (point << 6) | (byte(i) & 0x3fU);
    }
    if (point < least || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return {};
    return {point, length};
}

// Characters that move text about or hide it: C0, C1, and the format characters that matter for
// display (bidirectional controls, zero-width ones, tags, separators, byte order mark).
bool is_harmful(char32_t point) {
    const auto in = [point](char32_t low, char32_t high) { return point >= low && point <= high; };
    return point < 0x20 || in(0x7f, 0x9f) || point == 0xad || point == 0x61c || point == 0x180e ||
           in(0x200b, 0x200f) || in(0x2028, 0x202e) || in(0x2060, 0x206f) || point == 0xfeff ||
           in(0xfff0, 0xffff) || in(0xe0000, 0xe0fff);
}

void spell(std::string& out, char32_t point) {
    const auto number = static_cast<std::uint32_t>(point);
    if (point == '\n') {
        out += "\\n";
    } else if (point == '\t') {
        out += "\\t";
    } else if (point == '\r') {
        out += "\\r";
    } else if (point < 0x80) {
        fmt::format_to(std::back_inserter(out), "\\x{:02x}", number);
    } else if (point < 0x10000) {
        fmt::format_to(std::back_inserter(out), "\\u{:04x}", number);
    } else {
        fmt::format_to(std::back_inserter(out), "\\U{:08x}", number);
    }
}

std::string spelled(std::string_view text, bool ascii_only) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const Decoded decoded = decode(text);
        if (decoded.length == 0) {
            fmt::format_to(std::back_inserter(out), "\\x{:02x}",
                           static_cast<unsigned char>(text.front()));
            text.remove_prefix(1);
            continue;
        }
        if (is_harmful(decoded.point) || (ascii_only && decoded.point >= 0x80)) {
            spell(out, decoded.point);
        } else {
            out += text.substr(0, decoded.length);
        }
        text.remove_prefix(decoded.length);
    }
    return out;
}

}  // namespace

std::string ascii(std::string_view text) {
    return spelled(text, true);
}

std::string printable(std::string_view text) {
    return spelled(text, false);
}

std::string shorten(std::string_view text, std::size_t width) {
    if (text.size() <= width) return std::string(text);
    const std::size_t tail = (width - 3) / 3;
    const std::size_t head = width - 3 - tail;
    return fmt::format("{}...{}", text.substr(0, head), text.substr(text.size() - tail));
}

std::string cut(std::string_view text, std::size_t bytes) {
    if (text.size() <= bytes) return std::string(text);
    const auto continues = [&](std::size_t at) {
        return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
    };
    std::size_t head = (bytes - 3) * 2 / 3;
    std::size_t tail = text.size() - (bytes - 3 - head);
    // At most three bytes of a character follow its first: beyond that the text is no UTF-8.
    for (int i = 0; i < 3 && head > 0 && continues(head); ++i)
        --head;
    for (int i = 0; i < 3 && tail < text.size() && continues(tail); ++i)
        ++tail;
    return fmt::format("{}...{}", text.substr(0, head), text.substr(tail));
}

std::string html_text(std::string_view text) {
    std::string out;
    for (const char c : printable(text)) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            default:
                out += c;
        }
    }
    return out;
}

std::string markdown_text(std::string_view text) {
    // What starts markup within a line gets a backslash, which Markdown defines for punctuation.
    // Parentheses, '!' and ':' mean something only beside a bracket, which is escaped. What a
    // renderer makes into links or mentions on its own (http://, www., @name, #12) has its first
    // sign spelled as an entity or escaped.
    std::string out;
    const std::string clean = printable(text);
    for (std::size_t i = 0; i < clean.size(); ++i) {
        switch (clean[i]) {
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '&':
                out += "&amp;";
                break;
            case '@':
                out += "&#64;";
                break;
            case '|':
                out += "&#124;";
                break;
            case ':':
                out += clean.compare(i, 3, "://") == 0 ? "&#58;" : ":";
                break;
            case '\\':
            case '`':
            case '*':
            case '_':
            case '[':
            case ']':
            case '#':
            case '~':
            case '$':
                out += '\\';
                out += clean[i];
                break;
            default:
                out += clean[i];
        }
    }
    // Lists ("- ", "+ ", "1. ", "1) ") and underlines ("===") exist only at the start of a line.
    const std::size_t digits = out.find_first_not_of("0123456789");
    if (digits != std::string::npos) {
        const std::string_view starts = digits == 0 ? "-+=" : ".)";
        if (starts.find(out[digits]) != std::string_view::npos) out.insert(digits, 1, '\\');
    }
    for (std::size_t at = out.find("www."); at != std::string::npos; at = out.find("www.", at)) {
        out.replace(at, 4, "www&#46;");
    }
    return out;
}

std::string csv_cell(std::string_view text) {
    std::string cell = printable(text);
    const std::size_t first = cell.find_first_not_of(' ');
    if (first != std::string::npos &&
        std::string_view("=+-@").find(cell[first]) != std::string::npos) {
        cell.insert(0, 1, '\'');
    }
    const bool plain = cell.find_first_of(",\"") == std::string::npos;
    if (cell.empty() || (plain && cell.front() != ' ' && cell.back() != ' ')) {
        return cell;
    }
    std::string quoted = "\"";
    for (const char c : cell) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + '"';
}

std::string plot_label(std::string_view text) {
    std::string out;
    for (const char c : ascii(text)) {
        switch (c) {
            case '"':
            case '\'':
            case '`':
            case '#':
                out += '_';
                break;
            case '\\':
                out += '/';
                break;
            case '@':
                out += "(at)";
                break;
            default:
                out += c;
        }
    }
    return out;
}

}  // namespace vsb::reports
