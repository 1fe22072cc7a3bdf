#pragma once
// A gate on nightly results: is a workload worse than it was, by more than a margin, since one of
// the last nights? Two questions a workload, asked anew every night:
//
//   step: E-divisive (change_points.h) over the last `window` nights finds a change that began
//         within the last `look_back` nights, and the present level is worse than the one before
//         it. p is the permutation's, with the +1 rule. A slow slide that is found as several small
//         steps counts as a whole.
//   drop: tonight alone is worse than the level of the nights since the last change by more than
//         the margin: one-sided t on the prediction error, so that a collapse is seen at once.
//
// All these p-values of one night, two a workload, share `level` by Holm's rule. The level is so
// low because the question is asked every night: 60 clean nights (README.md has the simulated
// shares). A gate that cannot see its own margin says so: nights_needed.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stats/change_points.h"
#include "stats/comparison.h"

namespace vsb::stats {

struct NightSeries {
    std::span<const Night> nights;
    Better better = Better::higher;
};

struct NightGateOptions {
    double level = 0.002;         // of one night, all workloads together
    double margin = 0.01;         // a fraction; what is worse by less passes
    std::size_t look_back = 30;   // nights
    std::size_t window = 180;     // nights that E-divisive sees: its cost is in the permutations
    std::size_t min_segment = 5;  // nights; no step is found in fewer
    double power = 0.8;           // of nights_needed
    std::uint64_t seed = 1;
};

// Changes are fractions (-0.02: the present level is 2% below the former), intervals 95%, widened
// by the nights' excess scatter.
struct Worse {
    std::size_t index = 0;  // the first night of it
    double change = 0;
    Interval ci;
    double p = 1;
    double p_adjusted = 1;
    bool alarm = false;  // p_adjusted <= level
};

struct NightVerdict {
    std::vector<ChangePoint> changes;  // by E-divisive at `level`, within the window
    std::optional<Worse> step;         // the most certain candidate; worse by more than the margin
    std::optional<Worse> drop;         // tonight, worse by more than the margin
    bool step_armed = false;           // enough nights to find a step
    bool drop_armed = false;           // enough nights since the last change to judge tonight
    double night_sd = 0;  // of one night's ln ratio about the present level; 0 when not known
    // Nights after which a step of the margin's size is found with the power asked for, once the
    // present level is look_back nights old; absent when that takes more than look_back nights, or
    // when nothing is known of the scatter.
    std::optional<std::size_t> nights_needed;
};

// One verdict a series, in their order. Throws std::invalid_argument as e_divisive does, and for
// options out of range. A series may be empty.
std::vector<NightVerdict> judge_nights(std::span<const NightSeries> series,
                                       const NightGateOptions& options = {});

// The least number of nights after a step of ln size `step` at which it is found with this power:
// `before` nights came before it, each with the standard deviation `night_sd`; `level` is that of
// one series. Absent when that is more than `most`. The threshold is that of the greatest of all
// splits' statistics (Siegmund 1985, Sequential Analysis, 3.4 with the correction nu(x) =
// exp(-0.583 x)), turned into that of a t; the power is the noncentral t's at the true split.
std::optional<std::size_t> nights_to_find(double step, double night_sd, std::size_t before,
                                          double level, double power, std::size_t min_segment,
                                          std::size_t most);

}  // namespace vsb::stats
