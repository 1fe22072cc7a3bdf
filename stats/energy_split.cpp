#include "stats/energy_split.h"

#include <algorithm>
#include <numeric>

#include "stats/moments.h"

namespace vsb::stats {

EnergySplitter::EnergySplitter(std::span<const double> values, std::span<const double> weights,
                               std::size_t min_segment)
    : min_segment_(std::max<std::size_t>(2, min_segment)),
      items_(values.size()),
      tree_(values.size() + 1) {
    // Distances do not see a common part; sums of products lose fewer digits without it.
    const double centre = median(values);
    std::vector<std::uint32_t> by_value(values.size());
    std::iota(by_value.begin(), by_value.end(), 0U);
    std::sort(by_value.begin(), by_value.end(),
              [&](std::uint32_t i, std::uint32_t j) { return values[i] < values[j]; });
    double moment = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        items_[i] = {values[i] - centre, weights[i], 0, 0};
        total_weight_ += weights[i];
        total_squares_ += weights[i] * weights[i];
        moment += weights[i] * items_[i].value;
    }
    double weight_below = 0;
    double moment_below = 0;
    for (std::size_t rank = 0; rank < by_value.size(); ++rank) {
        Item& item = items_[by_value[rank]];
        item.rank = static_cast<std::uint32_t>(rank);
        weight_below += item.weight;
        moment_below += item.weight * item.value;
        const double below = item.value * weight_below - moment_below;
        const double above = (moment - moment_below) - item.value * (total_weight_ - weight_below);
        item.to_all = item.weight * (below + above);
        total_distance_ += item.to_all / 2;
    }
}

EnergySplit EnergySplitter::best(std::span<const std::uint32_t> order) {
    const std::size_t n = order.size();
    EnergySplit out;
    if (n < 2 * min_segment_) return out;
    std::fill(tree_.begin(), tree_.end(), Node{});
    double weight = 0;  // of the left side
    double moment = 0;
    double squares = 0;
    double within_left = 0;
    double across = 0;
    bool found = false;
    for (std::size_t left = 1; left + min_segment_ <= n; ++left) {
        const Item& item = items_[order[left - 1]];
        double weight_below = 0;
        double moment_below = 0;
        for (std::size_t i = item.rank + std::size_t{1}; i > 0; i &= i - 1) {
            weight_below += tree_[i].weight;
            moment_below += tree_[i].moment;
        }
        const double to_left =
            item.weight * (item.value * (2 * weight_below - weight) + moment - 2 * moment_below);
        within_left += to_left;
        across += item.to_all - 2 * to_left;
        for (std::size_t i = item.rank + std::size_t{1}; i <= n; i += i & (~i + 1)) {
            tree_[i].weight += item.weight;
            tree_[i].moment += item.weight * item.value;
        }
        weight += item.weight;
        moment += item.weight * item.value;
        squares += item.weight * item.weight;
        if (left < min_segment_) continue;
        const double rest = total_weight_ - weight;
        const double within_right = total_distance_ - within_left - across;
        const double energy = 2 * across / (weight * rest) -
                              2 * within_left / (weight * weight - squares) -
                              2 * within_right / (rest * rest - (total_squares_ - squares));
        const double statistic = weight * rest / total_weight_ * energy;
        if (!found || statistic > out.statistic) out = {left, statistic};
        found = true;
    }
    return out;
}

}  // namespace vsb::stats
