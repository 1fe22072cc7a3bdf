#pragma once
// The statistics of until_halfwidth, for the runner.

#include "harness/pilot.h"

namespace vsb::cli {

// Pairs after the pilot, by stats::pairs_after_pilot. Without spread the pilot is enough; nothing
// can be planned from fewer than four whole pairs, or from values that have no logarithm.
harness::PairPlan plan_from_pilot(const harness::Experiment& experiment,
                                  const datasets::PairedSeries& pilot);

}  // namespace vsb::cli
