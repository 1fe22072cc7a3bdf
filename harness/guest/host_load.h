#pragma once
// How much of this machine others used during a trial. A guest with two CPUs and its device want
// idle CPUs: with others on them throughput falls by factors, so that a disturbed trial is marked.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace vsb::guest {

// /proc/stat: ticks of all CPUs that were not idle (and not waiting for I/O, nor stolen).
std::optional<std::uint64_t> parse_busy_ticks(std::string_view stat);

struct ProcessTicks {
    pid_t group = 0;
    std::uint64_t ticks = 0;  // its threads' and its waited-for children's
};
// /proc/PID/stat; the name in it may hold anything.
std::optional<ProcessTicks> parse_process_ticks(std::string_view stat);

struct HostLoad {
    std::uint64_t busy_ticks = 0;
    std::uint64_t our_ticks = 0;  // this process and the machine's group
    std::uint64_t at_ns = 0;
};

// Reads /proc. `group`: of the guest's machine.
HostLoad read_host_load(pid_t group);

// CPUs that others kept busy on average in between; 0 when no time passed.
double others_cpus(const HostLoad& before, const HostLoad& after, long ticks_per_second);

// Did they disturb: more than a tenth of a CPU, and more than the grain of the kernel's ticks?
bool disturbing(const HostLoad& before, const HostLoad& after, long ticks_per_second);

}  // namespace vsb::guest
