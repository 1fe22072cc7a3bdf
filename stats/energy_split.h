#pragma once
// The split of a series with the greatest energy distance between its two sides; e_divisive's core.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace vsb::stats {

struct EnergySplit {
    std::size_t at = 0;    // length of the left side; 0: the series is too short to split
    double statistic = 0;  // W_l W_r/(W_l + W_r) times the energy distance
};

// Splits of one set of weighted values, however they are ordered. Weights are above 0.
class EnergySplitter {
  public:
    EnergySplitter(std::span<const double> values, std::span<const double> weights,
                   std::size_t min_segment);

    // `order` is a permutation of 0 .. n - 1: the order in which the values come.
    EnergySplit best(std::span<const std::uint32_t> order);

  private:
    struct Item {
        double value = 0;
        double weight = 0;
        double to_all = 0;  // weight times the weighted sum of distances to all values
        std::uint32_t rank = 0;
    };
    struct Node {
        double weight = 0;
        double moment = 0;  // sum of weight * value
    };

    std::size_t min_segment_;
    std::vector<Item> items_;
    std::vector<Node> tree_;
    double total_weight_ = 0;
    double total_squares_ = 0;   // sum of squared weights
    double total_distance_ = 0;  // over unordered pairs
};

}  // namespace vsb::stats
