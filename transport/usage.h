#pragma once
// What the calling thread used: CPU time and context switches (getrusage(RUSAGE_THREAD)).

#include <cstdint>

namespace vsb::transport {

struct Usage {
    std::uint64_t user_ns = 0;
    std::uint64_t system_ns = 0;
    std::uint64_t voluntary_switches = 0;
    std::uint64_t involuntary_switches = 0;
};

Usage usage_of_this_thread();
Usage operator-(const Usage& after, const Usage& before);
Usage& operator+=(Usage& sum, const Usage& one);

}  // namespace vsb::transport
