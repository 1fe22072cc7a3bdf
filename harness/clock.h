#pragma once
// The two clocks of a run, as a value, so that a test needs neither.

#include <cstdint>
#include <functional>
#include <string>

namespace vsb::harness {

struct Clock {
    std::function<std::string()> utc_now;        // "2026-01-31T12:00:00Z"
    std::function<std::int64_t()> monotonic_ns;  // CLOCK_MONOTONIC
};

Clock system_clock();

}  // namespace vsb::harness
