#pragma once
// Permutation tests of "no change" on d = ln(B/A), and the intervals of their inversion.
//
// Sign flip: without a change, A and B of a pair could as well be exchanged. Statistic |sum d|.
// The values of the change that the test does not reject lie between order statistics of the means
// of all subsets of d (Hartigan 1969, JASA 64:1303).
// Order labels: with a period effect a pair is not symmetric, but the half-differences of second
// less first run are exchangeable between the orders. Statistic |difference of the orders' means|.
//
// p is two-sided: the share of arrangements at least as extreme, the given one included, exact
// where all are gone through; else Monte Carlo, (1 + b)/(1 + B). Equal within rounding counts as
// equal.

#include <cstddef>
#include <cstdint>
#include <span>

#include "stats/log_interval.h"
#include "stats/pair.h"

namespace vsb::stats {

inline constexpr std::size_t kExactSignFlip = 20;                // pairs
inline constexpr std::size_t kExactLabelArrangements = 200'000;  // C(20, 10) = 184,756
inline constexpr std::size_t kPermutationDraws = 99'999;

struct PermutationP {
    double p = 1;
    bool exact = true;
    std::size_t draws = 0;  // 0 where exact
};

// No values: p = 1.
PermutationP sign_flip_test(std::span<const double> d, std::uint64_t seed);

// Throws std::invalid_argument without a value.
LogInterval sign_flip_interval(std::span<const double> d, double confidence, std::uint64_t seed);

// Both throw std::invalid_argument unless each order has a pair.
PermutationP order_label_test(std::span<const double> d, std::span<const Order> order,
                              std::uint64_t seed);
LogInterval order_label_interval(std::span<const double> d, std::span<const Order> order,
                                 double confidence, std::uint64_t seed);

}  // namespace vsb::stats
