#include "datasets/foreign_format.h"

#include <array>
#include <stdexcept>
#include <vector>

#include "datasets/decimal.h"
#include "datasets/foreign_json.h"
#include "datasets/import_error.h"

namespace vsb::datasets {
namespace {

struct Named {
    ForeignFormat format;
    std::string_view name;
};
constexpr std::array<Named, 8> kNames = {{
    {ForeignFormat::csv, "csv"},
    {ForeignFormat::vsock_perf, "vsock_perf"},
    {ForeignFormat::iperf3, "iperf3"},
    {ForeignFormat::google_benchmark, "google-benchmark"},
    {ForeignFormat::perf_stat, "perf-stat"},
    {ForeignFormat::perf_stat_json, "perf-stat-json"},
    {ForeignFormat::hyperfine, "hyperfine"},
    {ForeignFormat::benchfmt, "benchfmt"},
}};

constexpr std::size_t kLinesLookedAt = 1000;

std::vector<std::string_view> first_lines(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty() && lines.size() < kLinesLookedAt) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (!line.empty()) lines.push_back(line);
    }
    return lines;
}

bool is_perf_stat(std::string_view line) {
    for (const char separator : {',', ';', '|', '\t'}) {
        std::vector<std::string_view> fields;
        std::string_view rest = line;
        for (;;) {
            const std::size_t end = rest.find(separator);
            fields.push_back(rest.substr(0, end));
            if (end == std::string_view::npos) break;
            rest.remove_prefix(end + 1);
        }
        if (fields.size() < 5 || fields[2].empty()) continue;
        const bool counts = finite_decimal(fields[0]) || fields[0].starts_with("<not ");
        if (counts && whole_number(fields[3]) && finite_decimal(fields[4])) return true;
    }
    return false;
}

std::optional<ForeignFormat> json_format(std::string_view text, const std::string& name) {
    const JsonDocument document(text, name);
    const JsonValue root = document.root();
    if (root.find("benchmarks") && root.find("context")) return ForeignFormat::google_benchmark;
    if (root.find("results")) return ForeignFormat::hyperfine;
    if (root.find("start") && (root.find("end") || root.find("error"))) {
        return ForeignFormat::iperf3;
    }
    return std::nullopt;
}

// perf writes a document a line, below a comment when it writes into a file.
bool is_perf_stat_json(const std::vector<std::string_view>& lines) {
    for (const std::string_view line : lines) {
        if (line.starts_with('#')) continue;
        return line.starts_with('{') && line.find("\"counter-value\"") != std::string_view::npos;
    }
    return false;
}

}  // namespace

std::string_view name_of(ForeignFormat format) {
    for (const Named& each : kNames) {
        if (each.format == format) return each.name;
    }
    throw std::invalid_argument("no such format");
}

ForeignFormat parse_foreign_format(std::string_view name) {
    std::string list;
    for (const Named& each : kNames) {
        if (each.name == name) return each.format;
        list += (list.empty() ? "" : ", ") + std::string(each.name);
    }
    throw std::invalid_argument(in_quotes(name) + " is unknown (choose from " + list + ")");
}

std::optional<ForeignFormat> format_of(std::string_view text, const std::string& name) {
    const std::size_t first = text.find_first_not_of("\xef\xbb\xbf \t\r\n");
    if (first == std::string_view::npos) return std::nullopt;
    const auto lines = first_lines(text.substr(first));
    if (is_perf_stat_json(lines)) return ForeignFormat::perf_stat_json;
    if (text[first] == '{') return json_format(text, name);
    std::optional<ForeignFormat> found;
    auto note = [&found, several = false](ForeignFormat format) mutable {
        several = several || (found && *found != format);
        found = format;
        return !several;
    };
    if (lines.front().find(',') != std::string_view::npos &&
        lines.front().find("workload") != std::string_view::npos) {
        note(ForeignFormat::csv);
    }
    for (const std::string_view line : lines) {
        bool one = true;
        if (line.starts_with("Run as sender") || line.starts_with("Run as receiver")) {
            one = note(ForeignFormat::vsock_perf);
        } else if (line.starts_with("Benchmark")) {
            one = note(ForeignFormat::benchfmt);
        } else if (!found && is_perf_stat(line)) {
            one = note(ForeignFormat::perf_stat);
        }
        if (!one) return std::nullopt;
    }
    return found;
}

}  // namespace vsb::datasets
