#include "receivers/perf/perf_stat.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>

namespace vsb::perf {
namespace {

constexpr unsigned kMostLines = 1000;
constexpr std::size_t kLongest = 4096;

std::string shown(std::string_view text) {
    std::string out;
    for (const char c : text.substr(0, 40))
        out += c >= 0x20 && c < 0x7f ? c : '?';
    return "'" + out + "'";
}

[[noreturn]] void reject(const std::string& why) {
    throw std::invalid_argument(why);
}

std::uint64_t whole(std::string_view text) {
    // -j prints counts with a fraction of zeros.
    const auto dot = text.find('.');
    if (dot != std::string_view::npos) {
        const auto fraction = text.substr(dot + 1);
        if (fraction.empty() || fraction.find_first_not_of('0') != std::string_view::npos) {
            reject(shown(text) + " is no count");
        }
        text = text.substr(0, dot);
    }
    std::uint64_t value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || rest != text.data() + text.size()) {
        reject(shown(text) + " is no count");
    }
    return value;
}

double percent(std::string_view text) {
    double value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || rest != text.data() + text.size() ||
        !std::isfinite(value) || value < 0 || value > 100) {
        reject(shown(text) + " is no percentage of time");
    }
    return value;
}

constexpr std::string_view kNanoseconds = "ns";

// Clocks are printed in msec with fractions, or in ns as they stand.
std::string unit_of(std::string_view printed) {
    return printed == "msec" || printed == kNanoseconds ? std::string(kNanoseconds) : std::string();
}

std::uint64_t milliseconds(std::string_view text) {
    double value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    constexpr double kMost = 1e12;  // thirty years
    if (text.empty() || error != std::errc{} || rest != text.data() + text.size() ||
        !(value >= 0 && value <= kMost)) {
        reject(shown(text) + " is no time in msec");
    }
    return static_cast<std::uint64_t>(std::llround(value * 1e6));
}

Count judge(std::string_view value, std::string_view unit, std::uint64_t ran_ns,
            double percent_running) {
    if (value == "<not counted>") return {std::nullopt, "perf did not count it: it never ran"};
    if (value == "<not supported>") {
        return {std::nullopt, "this machine has no such hardware counter"};
    }
    if (value.starts_with("<")) reject(shown(value) + " is unknown in place of a count");
    if (!unit.empty() && unit_of(unit).empty()) {
        return {std::nullopt, "perf gives it in " + shown(unit) + ", which is no count"};
    }
    const std::uint64_t count = unit == "msec" ? milliseconds(value) : whole(value);
    if (ran_ns == 0) return {std::nullopt, "perf did not count it: it ran for no time"};
    if (percent_running < 100.0) {
        char text[80];
        std::snprintf(text, sizeof text, "multiplexed: on the hardware for %.2f%% of the time",
                      percent_running);
        return {std::nullopt, text};
    }
    return {count, {}};
}

// nullopt: the line holds a metric that perf worked out, and no event.
std::optional<StatLine> csv_line(std::string_view line, char separator) {
    std::vector<std::string_view> fields;
    for (;;) {
        const auto end = line.find(separator);
        fields.push_back(line.substr(0, end));
        if (end == std::string_view::npos) break;
        line.remove_prefix(end + 1);
    }
    // value, unit, event, time it ran, percentage; a metric and its unit may follow.
    if (fields.size() < 5 || fields.size() > 8) {
        reject("has " + std::to_string(fields.size()) + " fields, not 5 to 8");
    }
    constexpr std::size_t kWithMetric = 7;
    if (fields.size() >= kWithMetric && fields[0].empty() && fields[2].empty()) return std::nullopt;
    if (fields[2].empty()) reject("names no event");
    const double running = percent(fields[4]);
    return StatLine{std::string(fields[2]), judge(fields[0], fields[1], whole(fields[3]), running),
                    unit_of(fields[1])};
}

std::optional<StatLine> json_line(std::string_view line) {
    std::set<std::string> keys;
    bool twice = false;
    const auto note = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& value) {
        if (depth == 1 && event == nlohmann::json::parse_event_t::key) {
            twice = twice || !keys.insert(value.get<std::string>()).second;
        }
        return true;
    };
    const auto object = nlohmann::json::parse(line, note, false);
    if (!object.is_object()) reject("is no JSON object");
    if (twice) reject("has a key twice");
    if (!object.contains("event") && object.contains("metric-value")) return std::nullopt;
    const auto member = [&](const char* name) -> const nlohmann::json& {
        const auto it = object.find(name);
        if (it == object.end()) reject(std::string("has no \"") + name + "\"");
        return *it;
    };
    const auto text = [&](const char* name) -> const std::string& {
        const auto& value = member(name);
        if (!value.is_string()) reject(std::string("\"") + name + "\" is no text");
        return value.get_ref<const std::string&>();
    };
    const auto& ran = member("event-runtime");
    const auto& running = member("pcnt-running");
    if (!ran.is_number_unsigned()) reject("\"event-runtime\" is no time");
    if (!running.is_number() || !(running.get<double>() >= 0 && running.get<double>() <= 100)) {
        reject("\"pcnt-running\" is no percentage");
    }
    if (text("event").empty()) reject("names no event");
    const std::string unit = object.contains("unit") ? text("unit") : std::string();
    return StatLine{
        text("event"),
        judge(text("counter-value"), unit, ran.get<std::uint64_t>(), running.get<double>()),
        unit_of(unit)};
}

std::vector<StatLine> read_lines(
    std::string_view text, const std::function<std::optional<StatLine>(std::string_view)>& read) {
    std::vector<StatLine> lines;
    unsigned number = 0;
    while (!text.empty()) {
        ++number;
        const auto end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        try {
            if (number > kMostLines) reject("too many lines");
            if (line.size() > kLongest) reject("is too long");
            if (line.ends_with('\r')) line.remove_suffix(1);
            if (line.empty() || line.front() == '#') continue;
            if (auto event = read(line)) lines.push_back(*std::move(event));
        } catch (const std::invalid_argument& error) {
            reject("perf stat, line " + std::to_string(number) + ": " + error.what());
        }
    }
    if (lines.empty()) reject("perf stat printed no event");
    return lines;
}

}  // namespace

std::vector<StatLine> read_stat_csv(std::string_view text, char separator) {
    return read_lines(text,
                      [separator](std::string_view line) { return csv_line(line, separator); });
}

std::vector<StatLine> read_stat_json(std::string_view text) {
    return read_lines(text, json_line);
}

Counts counts_of(const std::vector<StatLine>& lines) {
    const auto find = [&](std::string_view name) {
        const StatLine* found = nullptr;
        for (const StatLine& line : lines) {
            if (std::string_view(line.event).substr(0, line.event.find(':')) != name) continue;
            if (found != nullptr) reject("perf stat counted " + std::string(name) + " twice");
            found = &line;
        }
        if (found == nullptr) {
            return Count{std::nullopt, "perf stat was not asked for " + std::string(name)};
        }
        return found->count;
    };
    return {find("cycles"), find("instructions")};
}

}  // namespace vsb::perf
