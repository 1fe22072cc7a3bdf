#pragma once
// Times of the store: UTC in ISO 8601 with milliseconds and a Z, "2026-11-30T16:05:09.123Z".

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace vsb::datasets {

std::string utc(std::chrono::system_clock::time_point time);
std::string utc_now();

// "2026-11-30T16:05:09+01:00", "2026-11-30T15:05:09Z", with or without a fraction of a second. A
// time without a zone, or no time at all, is nullopt. Years 1970 to 2200.
std::optional<std::string> utc_of(std::string_view iso8601);

}  // namespace vsb::datasets
