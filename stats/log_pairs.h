#pragma once
// The pairs on the natural log scale, checked once; everything behind compare() starts from here.

#include <cstddef>
#include <span>
#include <vector>

#include "stats/pair.h"

namespace vsb::stats {

struct LogPairs {
    std::vector<double> a;  // ln of A's value
    std::vector<double> b;  // ln of B's value
    std::vector<double> d;  // ln(B/A)
    std::vector<Order> order;
    std::size_t n_ab = 0;
    std::size_t n_ba = 0;

    std::size_t size() const noexcept { return d.size(); }
    bool two_of_each() const noexcept { return n_ab >= 2 && n_ba >= 2; }
    // All d equal but for the rounding of a division and a logarithm.
    bool constant() const noexcept;
};

// Throws std::invalid_argument: fewer than two pairs; a value that is not finite and positive, or
// a ratio that a double cannot hold, naming the pair by its place (the first is 1).
LogPairs log_pairs(std::span<const Pair> pairs);

// The values of `x` whose pair ran in `order`.
std::vector<double> of_order(std::span<const double> x, std::span<const Order> orders, Order order);

}  // namespace vsb::stats
