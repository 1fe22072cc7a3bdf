#pragma once
// A pair: two runs of one workload, one per state, made one after the other.

#include <cstdint>

namespace vsb::stats {

// Which state of a pair ran first. AB: A first, then B.
enum class Order : std::uint8_t { ab, ba };

// a, b: the two runs' values, in any unit, both finite and above zero.
struct Pair {
    double a = 0;
    double b = 0;
    Order order = Order::ab;
};

}  // namespace vsb::stats
