#pragma once
// A state SPEC as the engine's State: system=NAME (virtio-vsock-rx), policy=NAME, and the system's
// parameters, whose values may be sizes ("max-bytes=64K").

#include <string_view>

#include "engine/run.h"

namespace vsb::harness {

// is_a: which of the system's default policies to take where the SPEC names none. Throws
// std::invalid_argument naming the choices.
engine::State parse_engine_state(std::string_view spec, bool is_a);

}  // namespace vsb::harness
