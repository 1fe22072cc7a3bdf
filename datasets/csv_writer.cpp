#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include "datasets/csv.h"
#include "datasets/csv_fields.h"

namespace vsb::datasets {
namespace {

void append_text(std::string& out, std::string_view text) {
    if (const auto why = text_fault(text)) {
        throw std::invalid_argument("a name cannot be written as CSV: " + *why);
    }
    const std::size_t first = text.find_first_not_of('\'');
    const bool guard = first != std::string_view::npos &&
                       std::string_view("=+-@").find(text[first]) != std::string_view::npos;
    if (text.find_first_of(",\"") == std::string_view::npos) {
        if (guard) out += '\'';
        out += text;
        return;
    }
    out += '"';
    if (guard) out += '\'';
    for (const char c : text) {
        if (c == '"') out += '"';
        out += c;
    }
    out += '"';
}

// The shortest text that reads back as the same double.
void append_number(std::string& out, double value) {
    if (!std::isfinite(value)) {
        throw std::invalid_argument("a value that is not finite cannot be written as CSV");
    }
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    out.append(digits.data(), end);
}

void append_run(std::string& out, const PairedSeries& series, const PairedValue& pair, bool is_a) {
    append_text(out, series.workload);
    out += ',' + std::to_string(pair.pair) + (pair.order == PairOrder::ab ? ",AB," : ",BA,") +
           (is_a ? "A," : "B,");
    append_number(out, is_a ? pair.a : pair.b);
    out += ',';
    append_text(out, series.metric);
    out += ',';
    append_text(out, series.unit);
    out += '\n';
}

}  // namespace

std::string to_csv(std::span<const PairedSeries> series) {
    std::string out = "workload,pair,order,state,value,metric,unit\n";
    for (const PairedSeries& each : series) {
        for (const PairedValue& pair : each.pairs) {
            const bool a_first = pair.order == PairOrder::ab;
            append_run(out, each, pair, a_first);
            append_run(out, each, pair, !a_first);
        }
    }
    return out;
}

}  // namespace vsb::datasets
