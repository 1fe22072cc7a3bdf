#pragma once
// What both searches for change points share: the checked series and the segments' means.

#include <cstddef>
#include <span>
#include <vector>

#include "stats/change_points.h"

namespace vsb::stats {

// Throws std::invalid_argument, naming the night.
void check_nights(std::span<const Night> nights);

std::vector<double> log_ratios(std::span<const Night> nights);

// 1/SE^2, divided by their mean, so that equal SEs give ones.
std::vector<double> relative_weights(std::span<const Night> nights);

// Greatest less least value.
double scatter(std::span<const double> x);

// Means on both sides of each index, which ascend.
std::vector<ChangePoint> describe(std::span<const Night> nights,
                                  std::span<const std::size_t> indices);

}  // namespace vsb::stats
