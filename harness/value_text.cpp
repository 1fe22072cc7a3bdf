#include "harness/value_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <system_error>

namespace vsb::harness {
namespace {

[[noreturn]] void reject(std::string_view text, const std::string& why) {
    throw std::invalid_argument("'" + std::string(text.substr(0, 60)) + "' " + why);
}

}  // namespace

std::uint64_t parse_count(std::string_view text) {
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc::result_out_of_range) reject(text, "is larger than 2^64-1");
    if (error != std::errc{} || rest != end) reject(text, "is not a whole number (digits only)");
    return value;
}

double parse_number(std::string_view text) {
    double value = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || rest != end || !std::isfinite(value)) {
        reject(text, "is not a finite number");
    }
    return value;
}

double parse_fraction(std::string_view text) {
    if (text.ends_with('%')) return parse_number(text.substr(0, text.size() - 1)) / 100;
    return parse_number(text);
}

std::int64_t parse_duration_ns(std::string_view text) {
    double unit_ns = 1e9;
    std::string_view number = text;
    if (text.ends_with("ms")) {
        unit_ns = 1e6;
        number.remove_suffix(2);
    } else if (text.ends_with('s')) {
        number.remove_suffix(1);
    } else if (text.ends_with('m')) {
        unit_ns = 60e9;
        number.remove_suffix(1);
    }
    const double ns = parse_number(number) * unit_ns;
    if (!(ns >= 1e6 && ns <= 86400e9)) reject(text, "is no duration from 1ms to a day");
    return std::llround(ns);
}

std::string number_text(double value) {
    char buffer[64];
    const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
    return {buffer, result.ptr};
}

std::vector<std::string> split_list(std::string_view text) {
    std::vector<std::string> items;
    if (text.empty()) return items;
    for (std::size_t start = 0;;) {
        const std::size_t comma = std::min(text.find(',', start), text.size());
        if (comma == start) reject(text, "has an empty item");
        items.emplace_back(text.substr(start, comma - start));
        if (comma == text.size()) return items;
        start = comma + 1;
    }
}

std::vector<std::pair<std::string, std::string>> split_assignments(std::string_view text) {
    std::vector<std::pair<std::string, std::string>> items;
    for (const std::string& item : split_list(text)) {
        const std::size_t equals = item.find('=');
        if (equals == std::string::npos || equals == 0 || equals + 1 == item.size()) {
            reject(item, "is not NAME=VALUE");
        }
        std::string key = item.substr(0, equals);
        if (std::ranges::any_of(items, [&](const auto& seen) { return seen.first == key; })) {
            reject(text, "gives '" + key + "' twice");
        }
        items.emplace_back(std::move(key), item.substr(equals + 1));
    }
    return items;
}

}  // namespace vsb::harness
