#pragma once
// An outcome of the engine as a trial's result: pure, so that what must never become a figure can
// be tried with outcomes that no real engine gives.

#include <optional>
#include <string>

#include "engine/run.h"
#include "harness/experiment.h"
#include "harness/target.h"
#include "receivers/perf/counters.h"

namespace vsb::harness {

// Figures by the workload's kind, or a failure without figures: the outcome's own, bytes or round
// trips that are not the planned ones, a clock that stood still, cycles that were not counted
// (counters: those of the worker, for `cycles` only). Warnings are kept either way.
TrialResult engine_figures(const std::string& system, const Workload& workload,
                           const engine::Outcome& outcome,
                           const std::optional<perf::Counts>& counters);

}  // namespace vsb::harness
