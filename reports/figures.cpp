#include "reports/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace vsb::reports {
namespace {

constexpr std::string_view kNone = "n/a";
constexpr int kSignificant = 4;
constexpr std::size_t kWidest = 12;

// Decimals of the published tables. Other units: fewer from a thousand on, since there nobody has
// set a custom.
int decimals_of(double magnitude, std::string_view unit) {
    if (unit == "Gbit/s") return 4;
    if (unit == "us" || unit == "cycles/B") return 3;
    if (magnitude < 1000) return 4;
    return std::clamp(6 - static_cast<int>(std::floor(std::log10(magnitude))), 0, 4);
}

}  // namespace

std::string percent(double fraction) {
    const double value = fraction * 100;
    if (!std::isfinite(value)) return std::string(kNone);
    if (std::abs(value) >= 1e6) return fmt::format("{:+.2e}%", value);
    std::string text = fmt::format("{:+.2f}%", value);
    return text == "-0.00%" ? "+0.00%" : text;
}

std::string plain_percent(double fraction) {
    return fmt::format("{:.6g}%", fraction * 100);
}

std::string interval(const stats::Interval& ci, std::size_t low_width, std::size_t high_width) {
    return fmt::format("[{:>{}}, {:>{}}]", percent(ci.low), low_width, percent(ci.high),
                       high_width);
}

std::string mean(double value, std::string_view unit) {
    if (!std::isfinite(value)) return std::string(kNone);
    if (value == 0) return "0";
    const double magnitude = std::abs(value);
    if (unit == "1") {
        const double whole = std::round(value);
        if (magnitude < 1e15 && (magnitude >= 1000 || std::abs(value - whole) < 1e-9 * magnitude)) {
            return fmt::format("{:.0f}", whole);
        }
        return fmt::format("{:#.4g}", value);
    }
    // Four significant digits of a small number need more decimals than its unit has.
    const int needed = kSignificant - 1 - static_cast<int>(std::floor(std::log10(magnitude)));
    const int decimals = std::max(decimals_of(magnitude, unit), needed);
    if (decimals <= static_cast<int>(kWidest) && magnitude < 1e15) {
        std::string text = fmt::format("{:.{}f}", value, decimals);
        if (text.size() <= kWidest) return text;
    }
    return fmt::format("{:.3e}", value);
}

std::string p_value(const std::optional<double>& p) {
    if (!p || !(*p >= 0 && *p <= 1)) return "-";
    if (*p < 0.001) return "<0.001";
    return fmt::format("{:.3f}", *p);
}

std::string faster(const stats::Faster& count) {
    return fmt::format("{}/{}", count.k, count.n);
}

std::string exact(double value) {
    if (!std::isfinite(value)) return "";
    return fmt::format("{}", value == 0 ? 0.0 : value);
}

std::string exact(const std::optional<double>& value) {
    return value ? exact(*value) : "";
}

std::string grouped(long long value) {
    std::string text = fmt::format("{}", value);
    const std::size_t first = value < 0 ? 1 : 0;
    for (std::size_t at = text.size(); at > first + 3;) {
        at -= 3;
        text.insert(at, 1, ',');
    }
    return text;
}

}  // namespace vsb::reports
