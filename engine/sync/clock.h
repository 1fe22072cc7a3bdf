#pragma once
// CLOCK_MONOTONIC in nanoseconds, what one reading of it costs, and the named injected costs.

#include <cstdint>
#include <ctime>

namespace vsb::engine {

inline std::uint64_t now_ns() noexcept {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(t.tv_nsec);
}

// Median distance of neighbouring readings, over 1001 of them.
std::uint64_t measure_clock_cost_ns() noexcept;

// Holds the CPU for `ns`: a cost of the real thing that user space does not have. 0: nothing at
// all, not even a clock reading.
inline void charge(std::uint64_t ns) noexcept {
    if (ns == 0) return;
    const std::uint64_t end = now_ns() + ns;
    while (now_ns() < end) {
    }
}

}  // namespace vsb::engine
