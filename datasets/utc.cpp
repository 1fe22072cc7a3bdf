#include "datasets/utc.h"

#include <array>
#include <cstdio>
#include <ctime>

namespace vsb::datasets {

std::string utc(std::chrono::system_clock::time_point time) {
    using std::chrono::floor;
    const auto ms = floor<std::chrono::milliseconds>(time);
    const auto whole = floor<std::chrono::seconds>(ms);
    const std::time_t seconds = std::chrono::system_clock::to_time_t(whole);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    std::array<char, 96> out{};
    const int size =
        std::snprintf(out.data(), out.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
                      parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour,
                      parts.tm_min, parts.tm_sec, static_cast<int>((ms - whole).count()));
    return {out.data(), static_cast<std::size_t>(size)};
}

std::string utc_now() {
    return utc(std::chrono::system_clock::now());
}

}  // namespace vsb::datasets
