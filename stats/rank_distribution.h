#pragma once
// Exact null distributions of rank statistics, by counting subsets one rank after another. Ranks
// are given doubled, so that the midranks of ties (2.5) are whole numbers. Source: Hollander,
// Wolfe, Chicken, Nonparametric Statistical Methods, 3.1 and 4.1; Streitberg and Roehmel 1986 (the
// shift algorithm, which holds with ties as well).

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace vsb::stats {

// Doubled midranks of the values, in the values' order.
std::vector<std::uint32_t> doubled_midranks(std::span<const double> values);

// [s] = P(sum of the doubled ranks that carry a plus = s), each plus by a fair coin.
std::vector<double> signed_rank_distribution(std::span<const std::uint32_t> doubled_ranks);

// [s] = P(sum of the doubled ranks of a random choice of `chosen` of them = s).
std::vector<double> rank_sum_distribution(std::span<const std::uint32_t> doubled_ranks,
                                          std::size_t chosen);

}  // namespace vsb::stats
