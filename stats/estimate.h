#pragma once
// What a method hands to compare(): a log ratio, how sure it is, and its interval at any
// confidence.

#include <functional>
#include <optional>
#include <vector>

#include "stats/comparison.h"
#include "stats/log_interval.h"
#include "stats/log_pairs.h"

namespace vsb::stats {

struct Estimate {
    Method method = Method::crossover_t;  // the one used
    double theta = 0;                     // ln(B/A)
    std::optional<double> se;
    std::optional<double> df;
    std::optional<double> p;
    std::function<LogInterval(double confidence)> interval;
    std::size_t draws = 0;  // random ones that p or the interval rest on
    bool zero_spread = false;
    bool least_squares_means = false;  // A and B are the means of the orders' means
    std::vector<Warning> warnings;
};

// By the method that `options` names, or by the one it falls back to.
Estimate estimate(const LogPairs& pairs, const Options& options);

}  // namespace vsb::stats
