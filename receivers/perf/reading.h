#pragma once
// The arithmetic of counter groups, apart from the system calls. A group is read as
// {nr, time_enabled, time_running, value[nr]} (PERF_FORMAT_GROUP with both total times,
// linux/perf_event.h). Times in ns.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "receivers/perf/counters.h"

namespace vsb::perf {

struct Reading {
    std::uint64_t enabled_ns = 0;
    std::uint64_t running_ns = 0;
    std::vector<std::uint64_t> values;  // in the order the group's events were opened
};

// Decodes what read() put into words; `size` is its return value. nullopt when the size is not
// that of a group of `events` (0: the kernel put the event into its error state).
std::optional<Reading> decode(std::span<const std::uint64_t> words, std::size_t size,
                              std::size_t events);

// What event number `event` counted between two readings of one group. A value is given only when
// the group was on the hardware for the whole of its enabled time: never scaled, never 0 for
// "did not run".
Count difference(const Reading& before, const Reading& after, std::size_t event);

// What an error of perf_event_open means and how to mend it.
std::string open_error_reason(int error);

}  // namespace vsb::perf
