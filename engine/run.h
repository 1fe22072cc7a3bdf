#pragma once
// The embedded reference RX engine as callers see it: a system, a policy with its parameters, a
// workload in, and a checked outcome with every counter out.
//
// The engine does not print, exit or read the environment. Bad values throw
// std::invalid_argument; failures of a run (mismatched bytes, a deadline, refused affinity) come
// back in Outcome::failure with no figures to be used.

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/virtual/virtual_machine.h"

namespace vsb::engine {

struct PolicyInfo {
    std::string name;     // "per-packet"
    std::string summary;  // one line for --help and lists
};

struct ParameterInfo {
    std::string name;  // "max-pkts"
    std::string summary;
    std::uint64_t default_value = 0;
    std::uint64_t low = 0;  // allowed range, inclusive
    std::uint64_t high = 0;
    std::string unit;  // "1", "B", "ns"
};

struct SystemInfo {
    std::string name;  // "virtio-vsock-rx"
    std::vector<PolicyInfo> policies;
    std::vector<ParameterInfo> parameters;
    std::string default_a;  // policy of state A and B when none is given
    std::string default_b;
};

const std::vector<SystemInfo>& systems();
// Throws std::invalid_argument naming the systems there are.
const SystemInfo& find_system(std::string_view name);

// One state: a system, a policy, and the parameters that differ from their defaults.
struct State {
    std::string system = "virtio-vsock-rx";
    std::string policy = "per-packet";
    std::vector<std::pair<std::string, std::uint64_t>> parameters;
    // Set: the virtual clock. The same code runs in a deterministic schedule on CPUs that need not
    // exist (Placement's are its), time passes by named costs, and the outcome carries the warning
    // `model`.
    std::optional<VirtualMachine> virtual_machine = {};
};

// Throws std::invalid_argument (unknown policy or parameter, value out of range), naming the
// choices.
void validate(const State& state);

enum class Kind : std::uint8_t { throughput, rtt };

struct Workload {
    Kind kind = Kind::throughput;
    std::uint64_t payload_bytes = 64;   // 1 B to 1 MiB
    std::uint64_t writes = 1;           // of the sender; requests for rtt
    std::uint64_t recv_bytes = 65536;   // size given to recv(); payload_bytes for matched
    std::uint64_t warmup_requests = 0;  // rtt only, not among the samples
    std::uint64_t seed = 1;             // of the payload's bytes
};

// Throws std::invalid_argument where run() would, before anything is run: also for a workload that
// the system does not do, or not in this state.
void validate(const State& state, const Workload& workload);

// Unset: not pinned. The device side runs inside the worker's thread unless it has a CPU.
struct Placement {
    std::optional<int> receiver_cpu;
    std::optional<int> worker_cpu;
    std::optional<int> device_cpu;
    bool idle_poll = false;  // idle-priority spinners keep the CPUs awake; labelled when used
};

// Called on the named thread just before it starts its measured part and just after it ended, so
// that a caller can open counters for it (engine includes none of that).
struct Hooks {
    std::function<void(pid_t tid)> worker_starts;
    std::function<void(pid_t tid)> worker_ends;
    std::function<void(pid_t tid)> receiver_starts;
    std::function<void(pid_t tid)> receiver_ends;
};

struct Count {
    std::string name;  // "lock_acquisitions", "batch_end_ring_empty", ...
    std::uint64_t value = 0;
};

struct Warning {
    std::string code;
    std::string text;
};

struct Outcome {
    std::string failure;  // empty: every byte arrived as sent, figures may be used
    std::uint64_t bytes_sent = 0;
    std::uint64_t bytes_received = 0;
    std::uint64_t units = 0;                 // packets or datagrams delivered and checked
    std::uint64_t first_to_last_ns = 0;      // first packet to last byte
    std::uint64_t whole_ns = 0;              // first recv() or packet, if earlier, to EOF
    std::uint64_t device_ns = 0;             // device side's share when it runs in the worker
    std::vector<Count> counts;               // every counter of the system, always the same order
    std::vector<std::uint64_t> batch_sizes;  // [n]: ownerships that carried n packets
    std::vector<std::uint64_t> rtt_ns;       // rtt: one per request, in order
    std::uint64_t clock_cost_ns = 0;         // of one clock read, as measured beside the samples
    std::vector<Warning> warnings;
};

// Runs one trial. deadline_ns: give up (with a failure) this long after the start.
// stop: polled; returning true ends the run early with failure "interrupted". Both go by real time,
// under the virtual clock too. Throws std::invalid_argument for a virtual machine that cannot be.
Outcome run(const State& state, const Workload& workload, const Placement& placement,
            std::uint64_t deadline_ns, const Hooks& hooks = {},
            const std::function<bool()>& stop = {});

}  // namespace vsb::engine
