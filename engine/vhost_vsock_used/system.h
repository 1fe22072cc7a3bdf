#pragma once
// vhost-vsock-used: the host's vhost worker fills the guest's RX buffers over a split virtqueue and
// publishes used entries; the guest takes, checks and posts them again. Two threads: the worker
// (Placement::worker_cpu, Hooks::worker_*), which also takes the sender's writes, `burst` packets
// before each run, and the guest (receiver_cpu, Hooks::receiver_*). device_cpu is not used.

#include "engine/run.h"

namespace vsb::engine::vhost_vsock_used {

const SystemInfo& info();
// Throw std::invalid_argument as vsb::engine::validate() does.
void check(const State& state);
void check(const State& state, const Workload& workload);

// As vsb::engine::run(). Writes of 1 B to 1 MiB; throughput only.
Outcome run_trial(const State& state, const Workload& workload, const Placement& placement,
                  std::uint64_t deadline_ns, const Hooks& hooks, const std::function<bool()>& stop);

}  // namespace vsb::engine::vhost_vsock_used
