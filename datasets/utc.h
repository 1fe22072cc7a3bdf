#pragma once
// Times of the store: UTC in ISO 8601 with milliseconds and a Z, "2026-11-30T16:05:09.123Z".

#include <chrono>
#include <string>

namespace vsb::datasets {

std::string utc(std::chrono::system_clock::time_point time);
std::string utc_now();

}  // namespace vsb::datasets
