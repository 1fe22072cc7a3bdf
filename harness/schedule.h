#pragma once
// Who runs when: a pure function of the number of workloads, the pairs of each, and the seed.
//
// The pairs of a workload are cut into blocks of four (the last one may hold two); each block holds
// as many AB as BA pairs in random order, so that every workload has equal numbers of both and is
// never far from balance when a run is cut short. A run goes in rounds: round r measures pair r of
// every workload, the workloads in random order, so that a slow drift of the machine meets all of
// them alike.
//
// Some targets make a state ready at a price (a guest boots) and then serve every workload: by
// Grouping::round all pairs of a round have one order, drawn in the same blocks, and the runner
// measures the round's first half for all workloads before the second.
//
// Draws: one Boost.Random mt19937_64 seeded with the seed; Fisher-Yates from the back with
// boost::random::uniform_int_distribution (whose result, unlike the standard library's, is the same
// everywhere); first the blocks of each workload in turn (by round: one sequence for all), then the
// rounds. A stored seed therefore gives the stored schedule again.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "datasets/paired_series.h"

namespace vsb::harness {

struct PlannedPair {
    std::size_t workload = 0;  // index into the experiment's workloads
    std::int64_t pair = 0;     // 1-based, within its workload
    datasets::PairOrder order = datasets::PairOrder::ab;

    bool operator==(const PlannedPair&) const = default;
};

inline constexpr std::int64_t kPairsOfABlock = 4;

// Odd numbers rounded up, so that both orders are equally often.
std::int64_t even_pairs(std::int64_t pairs);

enum class Grouping : std::uint8_t { pair, round };

// In the order they are to be run. Throws std::invalid_argument: pairs odd or below 2, no workload.
std::vector<PlannedPair> make_schedule(std::size_t workloads, std::int64_t pairs,
                                       std::uint64_t seed, Grouping grouping = Grouping::pair);

// The state (0: A, 1: B) that runs at a position (1 or 2) of a pair.
std::size_t state_at(datasets::PairOrder order, int position);

}  // namespace vsb::harness
