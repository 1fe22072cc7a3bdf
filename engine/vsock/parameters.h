#pragma once
// The parameters of `virtio-vsock-rx`: names, ranges, defaults; parsed once.

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/run.h"
#include "engine/vsock/policy.h"

namespace vsb::engine {

struct VsockRxParameters {
    BatchLimits limits;
    std::uint16_t ring_size = 128;
    std::uint32_t rx_buf_bytes = 4096;
    std::uint32_t buf_alloc = 262144;
    std::uint32_t rcvlowat = 1;
    bool event_idx = true;
    std::uint64_t kick_cost_ns = 0;
    std::uint64_t irq_cost_ns = 0;
    std::uint32_t flows = 1;
    std::uint16_t first_index = 0;  // where the ring indices start: not a parameter, for tests
};

const std::vector<ParameterInfo>& vsock_rx_parameters();

// Throws std::invalid_argument naming the parameter, its value, and what is allowed.
VsockRxParameters parse_vsock_rx(std::span<const std::pair<std::string, std::uint64_t>> parameters);

// The parameters, and that the policy can do them.
VsockRxParameters parse_vsock_rx_state(const State& state);

// Throws std::invalid_argument if the workload is out of range, or cannot end under these
// parameters.
void check_vsock_rx_workload(const VsockRxParameters& parameters, const Workload& workload);

}  // namespace vsb::engine
