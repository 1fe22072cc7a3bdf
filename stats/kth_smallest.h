#pragma once
// The k-th smallest of a set too large to write down, given how many of its members are at most v.

#include <bit>
#include <cstdint>

namespace vsb::stats {

namespace detail {

// Doubles and integers in the same order; -0 comes just before +0.
inline std::int64_t order_key(double x) {
    const auto bits = std::bit_cast<std::int64_t>(x);
    return bits >= 0 ? bits : static_cast<std::int64_t>(0x8000000000000000ULL) - bits - 1;
}

inline double from_order_key(std::int64_t key) {
    return std::bit_cast<double>(
        key >= 0 ? key : static_cast<std::int64_t>(0x8000000000000000ULL) - key - 1);
}

}  // namespace detail

// at_most(v): how many members are <= v, nondecreasing. Bisects over the doubles between low and
// high, both included, so the answer is a member to the last bit, after at most 64 calls.
// Requires at_most(high) >= k >= 1.
template <typename Count>
double kth_smallest(double low, double high, std::uint64_t k, const Count& at_most) {
    std::int64_t below = detail::order_key(low);  // the answer lies in [below, above]
    std::int64_t above = detail::order_key(high);
    while (below < above) {
        const std::int64_t middle =
            (below & above) + ((below ^ above) >> 1);  // rounds down, without overflow
        if (at_most(detail::from_order_key(middle)) >= k) {
            above = middle;
        } else {
            below = middle + 1;
        }
    }
    return detail::from_order_key(below) + 0.0;  // +0 for -0
}

}  // namespace vsb::stats
