#pragma once
// One run of `virtio-vsock-rx` on real threads: the contract of engine/run.h for this system.

#include "engine/run.h"

namespace vsb::engine {

Outcome run_vsock_rx(const State& state, const Workload& workload, const Placement& placement,
                     std::uint64_t deadline_ns, const Hooks& hooks,
                     const std::function<bool()>& stop);

}  // namespace vsb::engine
