#include "stats/signed_sums.h"

#include <algorithm>
#include <vector>

namespace vsb::stats {

namespace {

// Sorted sums of one addend (`less` or `more`) for each value: merging two shifted copies of a
// sorted list keeps it sorted.
template <typename Less, typename More>
std::vector<double> sorted_sums(std::span<const double> x, const Less& less, const More& more) {
    std::vector<double> sums{0.0};
    std::vector<double> first;
    std::vector<double> second;
    for (const double value : x) {
        first.clear();
        second.clear();
        for (const double s : sums) {
            first.push_back(s + less(value));
            second.push_back(s + more(value));
        }
        sums.resize(2 * sums.size());
        std::merge(first.begin(), first.end(), second.begin(), second.end(), sums.begin());
    }
    return sums;
}

// Pairs with one sum of each list at most `bound` in total.
std::uint64_t pairs_at_most(const std::vector<double>& left, const std::vector<double>& right,
                            double bound) {
    std::uint64_t found = 0;
    std::size_t partners = right.size();
    for (const double sum : left) {
        while (partners > 0 && sum + right[partners - 1] > bound)
            --partners;
        if (partners == 0) break;
        found += partners;
    }
    return found;
}

}  // namespace

std::uint64_t signed_sums_at_least(std::span<const double> x, double bound) {
    const auto minus = [](double value) { return -value; };
    const auto plus = [](double value) { return value; };
    const std::size_t half = x.size() / 2;
    // The sums lie symmetrically about 0: >= bound is as often as <= -bound.
    return pairs_at_most(sorted_sums(x.first(half), minus, plus),
                         sorted_sums(x.subspan(half), minus, plus), -bound);
}

std::uint64_t subsets_with_mean_at_most(std::span<const double> x, double shift) {
    const auto out = [](double) { return 0.0; };
    const auto in = [shift](double value) { return value - shift; };
    const std::size_t half = x.size() / 2;
    return pairs_at_most(sorted_sums(x.first(half), out, in), sorted_sums(x.subspan(half), out, in),
                         0.0);
}

}  // namespace vsb::stats
