#pragma once
// What this machine's CPUs are like right now, measured in some tens of milliseconds: the costs
// that decide how an RX path looks from user space. Taken before and after a run; where the two
// differ materially the run says so.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/target.h"

namespace vsb::harness {

// Medians; unset where it could not be measured (one CPU, refused affinity).
struct MachineState {
    std::optional<double> wake_cost_ns;     // of a futex wake, to the waker; sleeper 20 us asleep
    std::optional<double> wake_latency_ns;  // from that wake to the sleeper's first instruction
    std::optional<double> syscall_cost_ns;  // getppid()
    std::optional<double> cache_line_round_trip_ns;  // one line, there and back between two CPUs
    // Share of the time of two spinning threads, one on each CPU, in which something else ran.
    std::optional<double> load_of_others;
};

// Between these two CPUs; equal ones leave everything but the system call's cost unset.
MachineState measure_machine_state(int waker_cpu, int sleeper_cpu);

// Keys machine.wake_cost_ns, ...; "unavailable" for what is unset. suffix: "" or ".end".
std::map<std::string, std::string> machine_environment(const MachineState& state,
                                                       const std::string& suffix);

// Of each quantity that moved materially: a time by more than a factor of 1.5 either way, the load
// of others by more than 0.10.
std::vector<TargetWarning> machine_moves(const MachineState& before, const MachineState& after);

}  // namespace vsb::harness
