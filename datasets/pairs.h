#pragma once
// From stored trials to the input of a comparison.

#include <string>
#include <vector>

#include "datasets/paired_series.h"
#include "datasets/records.h"

namespace vsb::datasets {

// Pure. trials in the order they were recorded (select_trials); see Store::paired.
std::vector<PairedSeries> pair_trials(const ExperimentRecord& experiment,
                                      const std::vector<TrialRecord>& trials, Id a, Id b);

}  // namespace vsb::datasets
