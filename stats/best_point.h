#pragma once
// Which of several points of a sweep is the best, and which cannot be told from it.
//
// The points were measured in rounds, each round holding one pair of every point, so rounds are
// what is resampled: points that drifted together stay together. A point is a candidate unless some
// other one beats it by more than chance does: with t_ji the studentised mean difference of j over
// i across rounds, i is dropped when max_j t_ji exceeds the `confidence` quantile of
// max_j (t*_ji about its own centre) over resampled rounds. The truly best point is dropped with a
// probability of at most 1 - confidence, so the candidates are a confidence set for it. Sources:
// Gupta 1965, Technometrics 7(2):225 (subset selection); Hsu, Multiple Comparisons, 1996, ch. 4;
// Efron and Tibshirani, An Introduction to the Bootstrap, 1993, 12.5 (bootstrap-t).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stats/comparison.h"
#include "stats/pair.h"

namespace vsb::stats {

// A point's pairs by round; a place is empty where the round has no whole pair of it.
using PointRounds = std::vector<std::optional<Pair>>;

struct BestPoint {
    std::size_t best = 0;         // of the highest mean log ratio; of the lowest for Better::lower
    std::vector<bool> candidate;  // by point; true for `best`
    std::vector<double> share;    // of the draws in which the point was the best; they sum to 1
    std::size_t rounds = 0;       // whole in every point: only these were used
    std::size_t draws = 0;
    std::uint64_t seed = 0;
};

inline constexpr std::size_t kFewestRounds = 4;

// Throws std::invalid_argument: fewer than two points, points of different length, fewer than
// kFewestRounds rounds that are whole in every point, a value that is not finite and positive,
// confidence outside (0, 1). draws = 0: 9,999, or fewer (not below 999) for huge sweeps.
BestPoint best_point(std::span<const PointRounds> points, Better better, double confidence,
                     std::uint64_t seed, std::size_t draws = 0);

}  // namespace vsb::stats
