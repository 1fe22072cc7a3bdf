#include "stats/rank_distribution.h"

#include <algorithm>
#include <numeric>

namespace vsb::stats {

std::vector<std::uint32_t> doubled_midranks(std::span<const double> values) {
    std::vector<std::size_t> by_value(values.size());
    std::iota(by_value.begin(), by_value.end(), std::size_t{0});
    std::sort(by_value.begin(), by_value.end(),
              [&](std::size_t i, std::size_t j) { return values[i] < values[j]; });
    std::vector<std::uint32_t> ranks(values.size());
    for (std::size_t first = 0; first < by_value.size();) {
        std::size_t last = first;
        while (last + 1 < by_value.size() &&
               values[by_value[last + 1]] == values[by_value[first]]) {
            ++last;
        }
        // Ranks first + 1 .. last + 1 share their mean; doubled, it is first + last + 2.
        for (std::size_t i = first; i <= last; ++i) {
            ranks[by_value[i]] = static_cast<std::uint32_t>(first + last + 2);
        }
        first = last + 1;
    }
    return ranks;
}

std::vector<double> signed_rank_distribution(std::span<const std::uint32_t> doubled_ranks) {
    std::size_t reached = 0;
    std::vector<double> p{1.0};
    for (const std::uint32_t rank : doubled_ranks) {
        p.resize(reached + rank + 1, 0.0);
        for (std::size_t s = p.size(); s-- > 0;) {
            const double without = s <= reached ? p[s] : 0.0;
            const double with = s >= rank ? p[s - rank] : 0.0;
            p[s] = (without + with) / 2;
        }
        reached += rank;
    }
    return p;
}

std::vector<double> rank_sum_distribution(std::span<const std::uint32_t> doubled_ranks,
                                          std::size_t chosen) {
    std::vector<std::uint32_t> sorted(doubled_ranks.begin(), doubled_ranks.end());
    std::sort(sorted.begin(), sorted.end());
    std::size_t greatest = 0;  // the greatest sum that `chosen` ranks can have
    for (std::size_t i = sorted.size() - chosen; i < sorted.size(); ++i)
        greatest += sorted[i];
    // p[k][s]: of the ranks seen, k are chosen and their sum is s; scaled to a probability by
    // taking each further rank with the chance that a random choice of `chosen` still leaves for
    // it.
    std::vector<std::vector<double>> p(chosen + 1, std::vector<double>(greatest + 1, 0.0));
    p[0][0] = 1;
    std::size_t reached = 0;
    for (std::size_t seen = 0; seen < sorted.size(); ++seen) {
        const std::uint32_t rank = sorted[seen];
        reached = std::min(greatest, reached + rank);
        const double left = static_cast<double>(sorted.size() - seen);
        for (std::size_t k = std::min(chosen, seen + 1) + 1; k-- > 0;) {
            const double leave = 1 - static_cast<double>(chosen - k) / left;
            const double take = k == 0 ? 0.0 : static_cast<double>(chosen - (k - 1)) / left;
            for (std::size_t s = reached + 1; s-- > 0;) {
                const double taken = k > 0 && s >= rank ? p[k - 1][s - rank] * take : 0.0;
                p[k][s] = std::max(0.0, leave) * p[k][s] + taken;
            }
        }
    }
    return p[chosen];
}

}  // namespace vsb::stats
