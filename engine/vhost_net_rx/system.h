#pragma once
// vhost-net-rx: a producer fills a pointer ring, vhost-net's worker empties it and drops the
// packets at the guest's sink. Two threads: the worker (Placement::worker_cpu, Hooks::worker_*),
// and the producer on device_cpu, else on receiver_cpu, since the sink lies in the worker. A trial
// is valid where the producer outruns the worker; fewer than one packet in ten may find the ring
// empty, else the outcome carries the warning `consumer-starved`.

#include "engine/run.h"

namespace vsb::engine::vhost_net_rx {

const SystemInfo& info();
// Throw std::invalid_argument as vsb::engine::validate() does.
void check(const State& state);
void check(const State& state, const Workload& workload);

// As vsb::engine::run(). One packet per write, 1 B to 64 KiB; throughput only.
Outcome run_trial(const State& state, const Workload& workload, const Placement& placement,
                  std::uint64_t deadline_ns, const Hooks& hooks, const std::function<bool()>& stop);

}  // namespace vsb::engine::vhost_net_rx
