#pragma once
// dgram-sendmsg: `threads` senders on one datagram socket, one receiver that checks and frees. With
// `reconnects`, one more thread replaces the socket's destination that many times meanwhile.
//
// Only the receiver is pinned (Placement::receiver_cpu, Hooks::receiver_*). Senders run where the
// scheduler puts them, since sharing a CPU would keep them from ever meeting in the lock; a single
// sender is pinned to worker_cpu. Hooks::worker_* are not called: there is no one worker.

#include "engine/run.h"

namespace vsb::engine::dgram_sendmsg {

const SystemInfo& info();
// Throw std::invalid_argument as vsb::engine::validate() does.
void check(const State& state);
void check(const State& state, const Workload& workload);

// As vsb::engine::run(). `writes` is the number of datagrams of all senders together, 1 B to 64 KiB
// each; throughput only.
Outcome run_trial(const State& state, const Workload& workload, const Placement& placement,
                  std::uint64_t deadline_ns, const Hooks& hooks, const std::function<bool()>& stop);

}  // namespace vsb::engine::dgram_sendmsg
