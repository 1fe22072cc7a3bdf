#pragma once
// A state SPEC as the engine's State: system=NAME (virtio-vsock-rx), policy=NAME, and the system's
// parameters, whose values may be sizes ("max-bytes=64K").

#include <optional>
#include <string>
#include <string_view>

#include "engine/run.h"
#include "harness/experiment.h"

namespace vsb::harness {

// is_a: which of the system's default policies to take where the SPEC names none. Throws
// std::invalid_argument naming the choices.
engine::State parse_engine_state(std::string_view spec, bool is_a,
                                 const std::optional<engine::VirtualMachine>& machine = {});

// The state at a point of the experiment's axes (state_at_point()). Where max-pkts is an axis,
// ring-size grows with it in both states, and max-bytes in the one that takes the value, so that it
// is the packet bound that ends a batch: ring-size to twice max-pkts, max-bytes to max-pkts whole
// RX buffers. What a SPEC or an axis sets itself stays. Throws like parse_engine_state.
engine::State engine_state_at(std::string_view spec, bool is_a, const Point& point,
                              const std::optional<engine::VirtualMachine>& machine = {});

// "max-pkts=256: ring-size=512, max-bytes=1M; ...", for every point at which something grew in a
// state with this SPEC; empty when nothing did.
std::string grown_bounds_text(std::string_view spec, bool is_a, const std::vector<Axis>& axes,
                              const std::optional<engine::VirtualMachine>& machine = {});

}  // namespace vsb::harness
