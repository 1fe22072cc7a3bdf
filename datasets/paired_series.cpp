#include "datasets/paired_series.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "datasets/direction.h"

namespace vsb::datasets {
namespace {

constexpr std::array<std::string_view, 5> kRates = {"throughput", "goodput", "bandwidth", "rate",
                                                    "speed"};
constexpr std::array<std::string_view, 21> kCosts = {
    "rtt",     "latency", "time",  "delay",  "duration", "cycles",  "instructions",
    "misses",  "calls",   "count", "counts", "errors",   "drops",   "interrupts",
    "wakeups", "retries", "ns",    "us",     "ms",       "seconds", "overhead"};

bool is_rate_unit(std::string_view unit) {
    return unit.ends_with("/s") || unit.ends_with("pps") || unit.ends_with("bps") ||
           unit.ends_with("Hz");
}

template <std::size_t n>
bool has_word(std::string_view name, const std::array<std::string_view, n>& words) {
    while (!name.empty()) {
        const auto end = std::min(name.find_first_of("_-. /"), name.size());
        if (std::ranges::find(words, name.substr(0, end)) != words.end()) return true;
        name.remove_prefix(std::min(end + 1, name.size()));
    }
    return false;
}

}  // namespace

std::optional<bool> says_higher_is_better(std::string_view metric, std::string_view unit) {
    if (!unit.empty()) return is_rate_unit(unit);
    if (has_word(metric, kCosts)) return false;
    if (has_word(metric, kRates)) return true;
    return std::nullopt;
}

bool higher_is_better(const std::string& metric, const std::string& unit) {
    return says_higher_is_better(metric, unit).value_or(true);
}

}  // namespace vsb::datasets
