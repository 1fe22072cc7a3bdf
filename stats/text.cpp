#include "stats/text.h"

#include <cstdio>

namespace vsb::stats {

namespace {

std::string print(const char* format, double x) {
    char buffer[64];
    const int length = std::snprintf(buffer, sizeof buffer, format, x);
    return {buffer, static_cast<std::size_t>(length)};
}

}  // namespace

std::string short_number(double x) {
    return print("%.3g", x);
}

std::string short_percent(double fraction) {
    const double percent = 100 * fraction;
    return print(percent > 1e6 || percent < -1e6 ? "%+.3g%%" : "%+.2f%%", percent);
}

}  // namespace vsb::stats
