#pragma once
// For tests: histories made night by night from pairs whose change and spread are known exactly.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "reports/history.h"

namespace vsb::reports::sample {

// A finished experiment "nightly" of the day with this number, from 2026-09-01 on at 02:00, with
// the workloads fixed/64B and rtt/4K. `commit` is "c<day>".
datasets::ExperimentRecord night_record(std::size_t day);

// Eight pairs of the record's workload with ln(B/A) = level + spread times a fixed pattern without
// mean: the crossover's estimate is level, its SE spread * kPatternSe.
datasets::PairedSeries night_series(const datasets::ExperimentRecord& record, std::size_t workload,
                                    double level, double spread);
inline constexpr double kPatternSe = 0.408248290463863;  // sqrt(8/6)/2 * sqrt(1/4 + 1/4)

// level(workload, day), each night's SE about `se`.
History nights(std::size_t days, const std::function<double(std::size_t, std::size_t)>& level,
               double se, const HistoryOptions& options = {});

// The same every time: about 0 with the standard deviation `se`, another in every night.
double scattered(std::size_t workload, std::size_t day, double se);

}  // namespace vsb::reports::sample
