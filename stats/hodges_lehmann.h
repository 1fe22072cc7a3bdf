#pragma once
// Rank methods for d = ln(B/A), which one wild pair cannot move far.
//
// Paired: the median of the Walsh averages (d_i + d_j)/2, i <= j, with Wilcoxon's signed-rank test
// and the interval of its inversion. Period-adjusted: on the half-differences of second less first
// run, h_i = d_i/2 of an AB pair and -d_i/2 of a BA pair, ln(B/A) is the shift between the two
// orders; the median of the differences h_i - h_j, with Wilcoxon's rank-sum test and its interval.
// Zeros are dropped from the signed-rank test and kept in the estimate. Ties get midranks.
// Source: Hodges and Lehmann 1963; Hollander, Wolfe, Chicken, 3.1-3.3 and 4.1-4.3; for the
// crossover Koch 1972, Biometrics 28:577.

#include <cstddef>
#include <optional>
#include <span>

#include "stats/log_interval.h"
#include "stats/pair.h"

namespace vsb::stats {

// statistic: V, the sum of the ranks of positive values; or W, the rank sum of the AB group less
// its least value n1 (n1 + 1)/2. p is two-sided, exact where `exact`, else by the normal limit.
struct RankTest {
    double statistic = 0;
    double p = 1;
    bool exact = true;
};

struct HodgesLehmann {
    double theta = 0;
    LogInterval interval;
};

// Exact up to this many values; the normal limit beyond.
inline constexpr std::size_t kExactSignedRank = 200;
inline constexpr std::size_t kExactRankSum = 100;

// Absent when every value is zero.
std::optional<RankTest> signed_rank_test(std::span<const double> d);

// Any number of values in O(n log n); of none: std::invalid_argument. With too few values for the
// confidence (under six at 95%): from the least to the greatest, and the confidence this reaches.
HodgesLehmann hodges_lehmann(std::span<const double> d, double confidence);

// Both throw std::invalid_argument unless each order has a pair.
RankTest rank_sum_test(std::span<const double> d, std::span<const Order> order);
HodgesLehmann hodges_lehmann_period_adjusted(std::span<const double> d,
                                             std::span<const Order> order, double confidence);

}  // namespace vsb::stats
