#include "reports/workload_name.h"

#include <fmt/format.h>

#include <array>

namespace vsb::reports {
namespace {

bool is_size(std::string_view text) {
    const std::size_t digits = text.find_first_not_of("0123456789");
    if (digits == 0 || text.empty()) return false;
    if (digits == std::string_view::npos) return true;
    return digits + 1 == text.size() &&
           std::string_view("BKMG").find(text.back()) != std::string_view::npos;
}

// "name=value", and more of them parted by commas.
bool is_point(std::string_view text) {
    std::size_t start = 0;
    for (;;) {
        const std::string_view item = text.substr(start, text.find(',', start) - start);
        const std::size_t equals = item.find('=');
        if (equals == std::string_view::npos || equals == 0 || equals + 1 == item.size()) {
            return false;
        }
        start += item.size() + 1;
        if (start > text.size()) return true;
    }
}

}  // namespace

WorkloadName parse_workload(std::string_view name) {
    const std::size_t slash = name.rfind('/');
    if (slash != std::string_view::npos && is_point(name.substr(slash + 1))) {
        WorkloadName parsed = parse_workload(name.substr(0, slash));
        if (!parsed.kind.empty() && parsed.point.empty()) {
            parsed.point = name.substr(slash + 1);
            return parsed;
        }
    }
    if (slash == std::string_view::npos || slash == 0 || !is_size(name.substr(slash + 1))) {
        return {"", std::string(name), ""};
    }
    return {std::string(name.substr(0, slash)), std::string(name.substr(slash + 1)), ""};
}

std::string size_text(long long bytes) {
    constexpr std::array<const char*, 4> kUnits = {"B", "K", "M", "G"};
    std::size_t unit = 0;
    while (bytes != 0 && bytes % 1024 == 0 && unit + 1 < kUnits.size()) {
        bytes /= 1024;
        ++unit;
    }
    return fmt::format("{}{}", bytes, kUnits[unit]);
}

}  // namespace vsb::reports
