#pragma once
// What the signs of d = ln(B/A) say: the exact two-sided sign test, and the order-statistic
// interval of the median [x_(k), x_(n+1-k)] with the greatest k that keeps P(K < k) <= alpha/2
// under a fair coin. Source: Dixon and Mood 1946; Conover, Practical Nonparametric Statistics, 3.4.

#include <cstddef>
#include <optional>
#include <span>

#include "stats/log_interval.h"

namespace vsb::stats {

// Zeros are no sign: they are left out of the test and counted.
struct SignTest {
    std::size_t positive = 0;
    std::size_t negative = 0;
    std::size_t zeros = 0;
    std::optional<double> p;  // absent when every value is zero
};

SignTest sign_test(std::span<const double> d);

// Of no values: std::invalid_argument. With too few values for the confidence: [min, max], with the
// confidence that this reaches, 1 - 2^(1-n).
LogInterval median_interval(std::span<const double> d, double confidence);

}  // namespace vsb::stats
