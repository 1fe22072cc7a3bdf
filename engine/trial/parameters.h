#pragma once
// A state's values against a system's list of parameters.

#include <cstdint>
#include <string_view>

#include "engine/run.h"

namespace vsb::engine::trial {

// Throws std::invalid_argument, naming the choices: another system, an unknown policy or parameter,
// a parameter given twice, a value out of range.
void check(const SystemInfo& info, const State& state);

// The state's value, else the default. `name` must be one of the system's.
std::uint64_t value_of(const SystemInfo& info, const State& state, std::string_view name);

// Throws std::invalid_argument: not throughput, nothing to send, or a payload beyond `longest`.
void check(const SystemInfo& info, const Workload& workload, std::uint64_t longest);

}  // namespace vsb::engine::trial
