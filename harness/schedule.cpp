#include "harness/schedule.h"

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace vsb::harness {
namespace {

using datasets::PairOrder;
using Generator = boost::random::mt19937_64;

// std::shuffle's draws are the implementation's choice; these are ours.
template <typename T>
void shuffle(std::vector<T>& items, Generator& generator) {
    for (std::size_t i = items.size(); i > 1; --i) {
        boost::random::uniform_int_distribution<std::size_t> below(0, i - 1);
        std::swap(items[i - 1], items[below(generator)]);
    }
}

std::vector<PairOrder> orders_of_one_workload(std::int64_t pairs, Generator& generator) {
    std::vector<PairOrder> orders;
    orders.reserve(static_cast<std::size_t>(pairs));
    for (std::int64_t left = pairs; left > 0; left -= kPairsOfABlock) {
        const auto size = static_cast<std::size_t>(std::min(left, kPairsOfABlock));
        std::vector<PairOrder> block(size, PairOrder::ab);
        std::fill_n(block.begin(), size / 2, PairOrder::ba);
        shuffle(block, generator);
        orders.insert(orders.end(), block.begin(), block.end());
    }
    return orders;
}

}  // namespace

std::int64_t even_pairs(std::int64_t pairs) {
    return pairs + pairs % 2;
}

std::vector<PlannedPair> make_schedule(std::size_t workloads, std::int64_t pairs,
                                       std::uint64_t seed, Grouping grouping) {
    if (workloads == 0) throw std::invalid_argument("a schedule needs a workload");
    if (pairs < 2 || pairs % 2 != 0) {
        throw std::invalid_argument("a balanced schedule needs an even number of pairs, 2 or more");
    }
    Generator generator(seed);
    const std::size_t sequences = grouping == Grouping::round ? 1 : workloads;
    std::vector<std::vector<PairOrder>> orders;
    orders.reserve(sequences);
    for (std::size_t w = 0; w < sequences; ++w) {
        orders.push_back(orders_of_one_workload(pairs, generator));
    }
    std::vector<PlannedPair> schedule;
    schedule.reserve(workloads * static_cast<std::size_t>(pairs));
    std::vector<std::size_t> round(workloads);
    for (std::int64_t pair = 1; pair <= pairs; ++pair) {
        std::iota(round.begin(), round.end(), std::size_t{0});
        shuffle(round, generator);
        for (const std::size_t w : round) {
            schedule.push_back(
                {w, pair, orders[w % sequences][static_cast<std::size_t>(pair - 1)]});
        }
    }
    return schedule;
}

std::size_t state_at(PairOrder order, int position) {
    const bool a_first = order == PairOrder::ab;
    return (position == 1) == a_first ? 0 : 1;
}

}  // namespace vsb::harness
