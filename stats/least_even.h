#pragma once
// The search behind every "how many pairs".

#include <cstddef>
#include <stdexcept>
#include <string>

#include "stats/planning.h"

namespace vsb::stats {

// The least even n >= 4 for which enough(n) holds; enough is monotone from some n on.
template <typename Enough>
std::size_t least_even_pairs(const Enough& enough) {
    // Small plans one by one: there a criterion may rise and fall again.
    constexpr std::size_t kOneByOne = 64;
    for (std::size_t n = 4; n <= kOneByOne; n += 2) {
        if (enough(n)) return n;
    }
    std::size_t below = kOneByOne / 2;  // halves: 2 * below pairs are too few
    std::size_t above = kOneByOne;
    while (!enough(2 * above)) {
        below = above;
        above *= 2;
        if (2 * above > kMostPlannedPairs) {
            throw std::invalid_argument(
                "planning: more than " + std::to_string(kMostPlannedPairs) +
                " pairs would be needed (ask for less, or quieten the runs)");
        }
    }
    while (above - below > 1) {
        const std::size_t middle = below + (above - below) / 2;
        (enough(2 * middle) ? above : below) = middle;
    }
    return 2 * above;
}

}  // namespace vsb::stats
