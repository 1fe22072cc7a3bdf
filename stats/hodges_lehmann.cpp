#include "stats/hodges_lehmann.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "stats/distributions.h"
#include "stats/kth_smallest.h"
#include "stats/rank_distribution.h"

namespace vsb::stats {

namespace {

double real(std::size_t n) {
    return static_cast<double>(n);
}

double two_sided(const std::vector<double>& distribution, std::size_t at) {
    double at_most = 0;
    double at_least = 0;
    for (std::size_t s = 0; s < distribution.size(); ++s) {
        if (s <= at) at_most += distribution[s];
        if (s >= at) at_least += distribution[s];
    }
    return std::min(1.0, 2 * std::min(at_most, at_least));
}

// With the correction for continuity; `step` is the distance of neighbouring values.
double normal_p(double statistic, double mean, double variance, double step) {
    if (variance <= 0) return 1;
    const double distance = std::max(0.0, std::abs(statistic - mean) - step / 2);
    return std::min(1.0, normal_two_sided_p(distance / std::sqrt(variance)));
}

// Which member, from either end, bounds the interval: the greatest k with P(S <= k - 1) <= tail.
// Without ties S goes over 0, 1, 2, ... in doubled ranks 0, 2, 4, ...
struct Place {
    std::uint64_t k = 0;
    double confidence = 0;
};

Place place(const std::vector<double>& doubled, std::size_t offset, double confidence) {
    const double tail = (1 - confidence) / 2 * (1 + 1e-12);
    double below = 0;
    std::uint64_t k = 0;
    for (std::size_t s = offset; s < doubled.size(); s += 2) {
        if (below + doubled[s] > tail) break;
        below += doubled[s];
        ++k;
    }
    if (k > 0) return {k, confidence};
    return {1, 1 - 2 * doubled[offset]};
}

Place place_normal(double mean, double variance, double confidence) {
    const double z = normal_quantile((1 - confidence) / 2);
    const double k = std::floor(mean + z * std::sqrt(variance) + 0.5);
    return {k < 1 ? 1 : static_cast<std::uint64_t>(k), confidence};
}

std::vector<std::uint32_t> untied_doubled_ranks(std::size_t n) {
    std::vector<std::uint32_t> ranks(n);
    for (std::size_t i = 0; i < n; ++i)
        ranks[i] = static_cast<std::uint32_t>(2 * (i + 1));
    return ranks;
}

// Median and interval of `members` values of which count(v) are at most v.
template <typename Count>
HodgesLehmann from_counts(double low, double high, std::uint64_t members, const Place& at,
                          const Count& count) {
    const auto member = [&](std::uint64_t k) { return kth_smallest(low, high, k, count); };
    HodgesLehmann out;
    out.theta = members % 2 == 1 ? member(members / 2 + 1)
                                 : std::midpoint(member(members / 2), member(members / 2 + 1));
    const std::uint64_t k = std::min(at.k, (members + 1) / 2);
    out.interval = {member(k), member(members + 1 - k), at.confidence};
    return out;
}

std::pair<std::vector<double>, std::vector<double>> half_differences(std::span<const double> d,
                                                                     std::span<const Order> order) {
    if (d.size() != order.size()) {
        throw std::invalid_argument("rank sum: as many orders as pairs are needed");
    }
    std::pair<std::vector<double>, std::vector<double>> out;
    for (std::size_t i = 0; i < d.size(); ++i) {
        if (order[i] == Order::ab) {
            out.first.push_back(d[i] / 2);
        } else {
            out.second.push_back(-d[i] / 2);
        }
    }
    if (out.first.empty() || out.second.empty()) {
        throw std::invalid_argument("rank sum: a pair of each order is the least");
    }
    return out;
}

}  // namespace

std::optional<RankTest> signed_rank_test(std::span<const double> d) {
    std::vector<double> size;
    std::vector<bool> positive;
    for (const double x : d) {
        if (x == 0) continue;
        size.push_back(std::abs(x));
        positive.push_back(x > 0);
    }
    if (size.empty()) return std::nullopt;
    const std::vector<std::uint32_t> ranks = doubled_midranks(size);
    std::uint64_t doubled = 0;
    double squares = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        if (positive[i]) doubled += ranks[i];
        squares += 0.25 * ranks[i] * ranks[i];
    }
    RankTest out;
    out.statistic = static_cast<double>(doubled) / 2;
    out.exact = ranks.size() <= kExactSignedRank;
    const double n = real(ranks.size());
    out.p = out.exact ? two_sided(signed_rank_distribution(ranks), doubled)
                      : normal_p(out.statistic, n * (n + 1) / 4, squares / 4, 1);
    return out;
}

HodgesLehmann hodges_lehmann(std::span<const double> d, double confidence) {
    if (d.empty()) throw std::invalid_argument("hodges-lehmann: no values");
    std::vector<double> x(d.begin(), d.end());
    std::sort(x.begin(), x.end());
    const std::size_t n = x.size();
    const auto at_most = [&](double v) {
        std::uint64_t found = 0;
        std::size_t partners = n;  // the first `partners` values x_j have (x_i + x_j)/2 <= v
        for (std::size_t i = 0; i < n; ++i) {
            while (partners > 0 && 0.5 * (x[i] + x[partners - 1]) > v)
                --partners;
            if (partners <= i) break;
            found += partners - i;
        }
        return found;
    };
    const double count = real(n);
    const Place at = n <= kExactSignedRank
                         ? place(signed_rank_distribution(untied_doubled_ranks(n)), 0, confidence)
                         : place_normal(count * (count + 1) / 4,
                                        count * (count + 1) * (2 * count + 1) / 24, confidence);
    return from_counts(x.front(), x.back(), std::uint64_t{n} * (n + 1) / 2, at, at_most);
}

RankTest rank_sum_test(std::span<const double> d, std::span<const Order> order) {
    const auto [ab, ba] = half_differences(d, order);
    std::vector<double> all = ab;
    all.insert(all.end(), ba.begin(), ba.end());
    const std::vector<std::uint32_t> ranks = doubled_midranks(all);
    std::uint64_t doubled = 0;
    for (std::size_t i = 0; i < ab.size(); ++i)
        doubled += ranks[i];
    const double n1 = real(ab.size());
    const double n2 = real(ba.size());
    RankTest out;
    out.statistic = static_cast<double>(doubled) / 2 - n1 * (n1 + 1) / 2;
    out.exact = all.size() <= kExactRankSum;
    if (out.exact) {
        out.p = two_sided(rank_sum_distribution(ranks, ab.size()), doubled);
        return out;
    }
    const double middle = (n1 + n2 + 1) / 2;
    double squares = 0;
    for (const std::uint32_t rank : ranks) {
        squares += (0.5 * rank - middle) * (0.5 * rank - middle);
    }
    out.p =
        normal_p(out.statistic, n1 * n2 / 2, n1 * n2 / ((n1 + n2) * (n1 + n2 - 1)) * squares, 1);
    return out;
}

HodgesLehmann hodges_lehmann_period_adjusted(std::span<const double> d,
                                             std::span<const Order> order, double confidence) {
    auto [ab, ba] = half_differences(d, order);
    std::sort(ab.begin(), ab.end());
    std::sort(ba.begin(), ba.end());
    const auto at_most = [&](double v) {
        std::uint64_t found = 0;
        std::size_t above = 0;  // the first `above` values of ba have ab_i - ba_j > v
        for (const double x : ab) {
            while (above < ba.size() && x - ba[above] > v)
                ++above;
            if (above == ba.size()) break;
            found += ba.size() - above;
        }
        return found;
    };
    const std::size_t n = ab.size() + ba.size();
    const double n1 = real(ab.size());
    const double n2 = real(ba.size());
    const Place at = n <= kExactRankSum
                         ? place(rank_sum_distribution(untied_doubled_ranks(n), ab.size()),
                                 ab.size() * (ab.size() + 1), confidence)
                         : place_normal(n1 * n2 / 2, n1 * n2 * (n1 + n2 + 1) / 12, confidence);
    return from_counts(ab.front() - ba.back(), ab.back() - ba.front(),
                       std::uint64_t{ab.size()} * ba.size(), at, at_most);
}

}  // namespace vsb::stats
