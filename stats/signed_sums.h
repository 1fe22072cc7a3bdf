#pragma once
// All 2^n signed or subset sums of n values, without going through them: the sums of each half are
// sorted, and pairs that reach a bound are counted with two pointers. O(2^(n/2)).
// Source: Horowitz and Sahni 1974, JACM 21:277 (meeting in the middle).

#include <cstdint>
#include <span>

namespace vsb::stats {

// How many of the 2^n sums +-x_1 +- ... +- x_n are >= bound. n is at most 62.
std::uint64_t signed_sums_at_least(std::span<const double> x, double bound);

// How many of the 2^n subsets, the empty one among them, have a sum of (x_i - shift) <= 0.
std::uint64_t subsets_with_mean_at_most(std::span<const double> x, double shift);

}  // namespace vsb::stats
