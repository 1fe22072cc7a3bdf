#pragma once
// The time in nanoseconds (CLOCK_MONOTONIC, or a trial's virtual clock), what one reading of it
// costs, and the named injected costs.

#include <cstdint>
#include <ctime>

#include "engine/sync/virtual_time.h"

namespace vsb::engine {

// The machine's own clock, whatever clock a trial goes by: for deadlines.
inline std::uint64_t real_now_ns() noexcept {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(t.tv_nsec);
}

inline std::uint64_t now_ns() noexcept {
    return is_virtual() ? virtual_time::now_ns() : real_now_ns();
}

// Median distance of neighbouring readings, over 1001 of them.
std::uint64_t measure_clock_cost_ns() noexcept;

// Holds the CPU for `ns`: a cost of the real thing that user space does not have. 0: nothing at
// all, not even a clock reading.
inline void charge(std::uint64_t ns) noexcept {
    if (ns == 0) return;
    if (is_virtual()) {
        virtual_time::pay_ns(ns);
        return;
    }
    const std::uint64_t end = now_ns() + ns;
    while (now_ns() < end) {
    }
}

}  // namespace vsb::engine
