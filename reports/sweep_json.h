#pragma once
// A sweep for programs: JSON (schema "vsockbench.sweep/1") and CSV, a record a point.

#include <string>
#include <vector>

#include "reports/sweep.h"

namespace vsb::reports {

// experiment, confidence, axes[] {name, values[]}, points[] {workload, kind, metric, unit,
// parameters {name: number, or text where it is none}, a, b, change, ci {low, high}, n_ab, n_ba, p,
// count {metric, a, b}, best, candidate, best_share}, maximum[] {kind, workload, parameters,
// change, share, draws, seed, rounds, candidates[]} with a reason where there is none, warnings[].
// As in a comparison, numbers that do not exist are null and an interim one has no p.
std::string sweep_json(const Comparison& comparison, const std::vector<Sweep>& sweeps);

// Header kind,metric,unit, a column an axis, a,b,change,ci_low,ci_high,n_ab,n_ba,p,best,candidate,
// best_share. Sweeps of several kinds must share their axes: those of the first are the columns.
std::string sweep_csv(const Comparison& comparison, const std::vector<Sweep>& sweeps);

}  // namespace vsb::reports
