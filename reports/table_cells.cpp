#include "reports/table_cells.h"

#include <algorithm>
#include <array>
#include <optional>

namespace vsb::reports {
namespace {

constexpr std::string_view kBlank = " \t";

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_sign(char c) {
    return c == '+' || c == '-';
}

// What mail programs make of a minus and of a blank, as ASCII.
std::string plain(std::string_view line) {
    struct Spelling {
        std::string_view from;
        char to;
    };
    constexpr std::array<Spelling, 7> kSpellings{{{"\xe2\x88\x92", '-'},    // minus sign
                                                  {"\xe2\x80\x93", '-'},    // en dash
                                                  {"\xe2\x80\x91", '-'},    // hyphen, no break
                                                  {"\xc2\xa0", ' '},        // blank, no break
                                                  {"\xe2\x80\x89", ' '},    // thin blank
                                                  {"\xe2\x80\xaf", ' '},    // narrow, no break
                                                  {"\xe2\x80\x87", ' '}}};  // as wide as a digit
    std::string out;
    out.reserve(line.size());
    while (!line.empty()) {
        const auto* const at = std::ranges::find_if(
            kSpellings, [&](const Spelling& s) { return line.starts_with(s.from); });
        if (at == kSpellings.end()) {
            out += line.front();
            line.remove_prefix(1);
        } else {
            out += at->to;
            line.remove_prefix(at->from.size());
        }
    }
    return out;
}

void skip_blanks(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
}

// Takes "12", "1,048,577", "0.1290", "1.2e+05" off the front, commas dropped.
std::optional<std::string> take_digits(std::string_view& text) {
    std::size_t at = 0;
    std::string digits;
    while (at < text.size() && is_digit(text[at]))
        digits += text[at++];
    if (digits.empty()) return std::nullopt;
    const auto three = [&](std::size_t from) {
        return from + 3 <= text.size() &&
               std::all_of(text.begin() + static_cast<std::ptrdiff_t>(from),
                           text.begin() + static_cast<std::ptrdiff_t>(from) + 3, is_digit) &&
               (from + 3 == text.size() || !is_digit(text[from + 3]));
    };
    while (digits.size() <= 15 && at < text.size() && text[at] == ',' && three(at + 1)) {
        digits += text.substr(at + 1, 3);
        at += 4;
    }
    if (at + 1 < text.size() && text[at] == '.' && is_digit(text[at + 1])) {
        digits += text[at++];
        while (at < text.size() && is_digit(text[at]))
            digits += text[at++];
    }
    if (at + 2 < text.size() && text[at] == 'e' && is_sign(text[at + 1]) &&
        is_digit(text[at + 2])) {
        digits += text.substr(at, 2);
        at += 2;
        while (at < text.size() && is_digit(text[at]))
            digits += text[at++];
    }
    text.remove_prefix(at);
    return digits;
}

// A number with its sign and percent sign, blanks allowed around both.
struct Figure {
    std::string sign;
    std::string digits;
    bool percent = false;
    std::string text() const { return sign + digits + (percent ? "%" : ""); }
};

std::optional<Figure> take_figure(std::string_view& text) {
    std::string_view rest = text;
    Figure figure;
    skip_blanks(rest);
    if (!rest.empty() && is_sign(rest.front())) {
        figure.sign = rest.front();
        rest.remove_prefix(1);
        skip_blanks(rest);
    }
    const auto digits = take_digits(rest);
    if (!digits) return std::nullopt;
    figure.digits = *digits;
    std::string_view after = rest;
    skip_blanks(after);
    if (!after.empty() && after.front() == '%') {
        figure.percent = true;
        rest = after.substr(1);
    }
    text = rest;
    return figure;
}

bool take(std::string_view& text, std::string_view what) {
    std::string_view rest = text;
    skip_blanks(rest);
    if (!rest.starts_with(what)) return false;
    text = rest.substr(what.size());
    return true;
}

// "+89.31%, +96.58%", also with "95% CI:" before it; the percent sign may stand once.
std::optional<FoundCell> interval_of(std::string_view inside, bool percent_follows) {
    std::string_view rest = inside;
    if (take_figure(rest) && take(rest, "CI")) {
        take(rest, ":") || take(rest, ",");
    } else {
        rest = inside;
    }
    const auto low = take_figure(rest);
    if (!low) return std::nullopt;
    if (!take(rest, ",") && !take(rest, ";") && !take(rest, "..") && !take(rest, "to ")) {
        return std::nullopt;
    }
    const auto high = take_figure(rest);
    skip_blanks(rest);
    if (!high || !rest.empty()) return std::nullopt;
    if (!low->percent && !high->percent && !percent_follows) return std::nullopt;
    return FoundCell{CellKind::interval, low->sign + low->digits + "%",
                     high->sign + high->digits + "%", ""};
}

FoundCell bracket_cell(std::string_view inside, bool percent_follows) {
    if (auto interval = interval_of(inside, percent_follows)) return *interval;
    std::string_view rest = inside;
    const auto figure = take_figure(rest);
    skip_blanks(rest);
    if (figure && figure->percent && rest.empty()) {
        return {CellKind::percent, figure->text(), "", ""};
    }
    return {CellKind::aside, std::string(inside), "", ""};
}

bool is_unit(std::string_view word) {
    static constexpr std::array<std::string_view, 44> kUnits{
        "B",      "KB",       "MB",    "GB",     "KiB",    "MiB",    "GiB",        "B/s",
        "KB/s",   "MB/s",     "GB/s",  "KiB/s",  "MiB/s",  "GiB/s",  "bps",        "Kbps",
        "Mbps",   "Gbps",     "bit/s", "Kbit/s", "Mbit/s", "Gbit/s", "Gbits/s",    "Mbits/s",
        "G/s",    "pps",      "Kpps",  "Mpps",   "ns",     "us",     "ms",         "s",
        "cycles", "cycles/B", "ops/s", "ops",    "req/s",  "rps",    "cycles/GiB", "x",
        "IOPS",   "kIOPS",    "W",     "J"};
    return std::ranges::find(kUnits, word) != kUnits.end();
}

FoundCell word_cell(std::string_view word) {
    const std::string text(word);
    if (word == "->" || word == "=>" || word == "vs" || word == "vs." || word == "\xe2\x86\x92") {
        return {CellKind::arrow, text, "", ""};
    }
    if (word == "-" || word == "--" || word == "~" || word == "n/a") {
        return {CellKind::dash, text, "", ""};
    }
    return {is_unit(word) ? CellKind::unit : CellKind::word, text, "", ""};
}

bool ends_cell(std::string_view rest) {
    return rest.empty() || kBlank.find(rest.front()) != std::string_view::npos ||
           std::string_view("|[(,;:*`.").find(rest.front()) != std::string_view::npos;
}

// Takes the letters that cling to a number: "Mpps", "B", "KiB/s".
std::string take_unit(std::string_view& text) {
    std::size_t at = 0;
    while (at < text.size() && at < 12 && (is_letter(text[at]) || (at > 0 && text[at] == '/')))
        ++at;
    std::string unit(text.substr(0, at));
    text.remove_prefix(at);
    return unit;
}

// A figure or a pair at the front; the text stays as it is when there is none.
std::optional<FoundCell> take_figure_cell(std::string_view& text) {
    std::string_view rest = text;
    const bool sign_apart =
        text.size() > 1 && is_sign(text.front()) && kBlank.find(text[1]) != std::string_view::npos;
    const auto figure = take_figure(rest);
    if (!figure || (sign_apart && !figure->percent)) return std::nullopt;
    FoundCell cell{CellKind::number, figure->text(), "", ""};
    if (figure->percent) {
        cell.kind = CellKind::percent;
        std::string_view after = rest;
        if (take(after, "to ")) {
            const auto high = take_figure(after);
            if (high && high->percent && ends_cell(after)) {
                text = after;
                return FoundCell{CellKind::interval, figure->text(), high->text(), ""};
            }
        }
    } else if (rest.starts_with('/') && rest.size() > 1 && is_digit(rest[1])) {
        rest.remove_prefix(1);
        cell.kind = CellKind::pair;
        cell.high = *take_digits(rest);
    } else {
        cell.unit = take_unit(rest);
    }
    if (!ends_cell(rest)) return std::nullopt;
    // "0.1.0" is no number, a point at a sentence's end is.
    if (rest.size() > 1 && rest.front() == '.' && !ends_cell(rest.substr(1))) return std::nullopt;
    text = rest;
    return cell;
}

}  // namespace

FoundCells table_cells(std::string_view line) {
    const std::string ascii_line = plain(line);
    std::string_view rest = ascii_line;
    FoundCells found;
    while (true) {
        // Markdown's bars and emphasis, and the punctuation after a figure, part cells as blanks
        // do.
        rest.remove_prefix(std::min(rest.find_first_not_of(" \t|*`,;:"), rest.size()));
        if (rest.empty()) return found;
        if (rest.front() == '[' || rest.front() == '(') {
            const char close = rest.front() == '[' ? ']' : ')';
            const auto end = rest.find(close);
            const std::string_view inside = rest.substr(1, end == rest.npos ? end : end - 1);
            rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
            const bool percent = take(rest, "%");
            found.open = found.open || end == std::string_view::npos;
            found.cells.push_back(bracket_cell(inside, percent));
            continue;
        }
        if (auto cell = take_figure_cell(rest)) {
            found.cells.push_back(std::move(*cell));
            continue;
        }
        const std::string_view word = rest.substr(0, rest.find_first_of(" \t|"));
        rest.remove_prefix(word.size());
        const auto end = word.find_last_not_of("*`,;:");
        found.cells.push_back(word_cell(word.substr(0, end + 1)));
    }
}

}  // namespace vsb::reports
