#pragma once
// The target that needs nothing but this process: the embedded engine, its threads on the chosen
// CPUs, hardware counters around its worker for `cycles`.

#include <memory>

#include "harness/experiment.h"
#include "harness/target.h"

namespace vsb::harness {

// experiment.cpus must be filled in (with_defaults). Throws std::invalid_argument: a bad state
// SPEC, states of two systems, a role the engine does not have.
std::unique_ptr<Target> make_engine_target(const Experiment& experiment);

}  // namespace vsb::harness
