#include "stats/permutation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "stats/draws.h"
#include "stats/moments.h"
#include "stats/signed_sums.h"

namespace vsb::stats {

namespace {

double sum_of_sizes(std::span<const double> x) {
    CompensatedSum sum;
    for (const double value : x)
        sum.add(std::abs(value));
    return sum.value();
}

// What rounding may do to a sum of these values.
double rounding(std::span<const double> x) {
    return 64 * std::numeric_limits<double>::epsilon() * sum_of_sizes(x);
}

// Calls visit(i, sign) for a fresh coin per value, 64 coins a word.
template <typename Visit>
void flip(std::size_t n, Draws& random, const Visit& visit) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (i % 64 == 0) word = random.word();
        visit(i, (word >> (i % 64) & 1) != 0);
    }
}

// Bounds between the members of a sample of values that are typical of the change (Hartigan): with
// N arrangements in all, the k-th smallest and greatest with k = floor(tail N).
LogInterval between(std::vector<double> typical, double arrangements, double confidence) {
    const double tail = (1 - confidence) / 2 * (1 + 1e-12);
    double k = std::floor(tail * arrangements);
    double reached = confidence;
    if (k < 1) {
        k = 1;
        reached = 1 - 2 / arrangements;
    }
    const auto index = std::min(static_cast<std::size_t>(k) - 1, (typical.size() - 1) / 2);
    const auto low = typical.begin() + static_cast<std::ptrdiff_t>(index);
    std::nth_element(typical.begin(), low, typical.end());
    const double lower = *low;
    const auto high = typical.end() - 1 - static_cast<std::ptrdiff_t>(index);
    std::nth_element(typical.begin(), high, typical.end());
    return {lower, *high, reached};
}

// h = d/2 of AB and -d/2 of BA, the AB group first.
struct HalfDifferences {
    std::vector<double> h;
    std::size_t n_ab = 0;
    double sum_ab = 0;
    double sum = 0;

    // Difference of the means of two groups, the first with this sum.
    double statistic(double sum_first) const {
        const double n1 = static_cast<double>(n_ab);
        const double n2 = static_cast<double>(h.size() - n_ab);
        return sum_first / n1 - (sum - sum_first) / n2;
    }
};

HalfDifferences half_differences(std::span<const double> d, std::span<const Order> order) {
    if (d.size() != order.size()) {
        throw std::invalid_argument("order labels: as many orders as pairs are needed");
    }
    HalfDifferences out;
    for (std::size_t i = 0; i < d.size(); ++i) {
        if (order[i] == Order::ab) out.h.push_back(d[i] / 2);
    }
    out.n_ab = out.h.size();
    for (std::size_t i = 0; i < d.size(); ++i) {
        if (order[i] == Order::ba) out.h.push_back(-d[i] / 2);
    }
    if (out.n_ab == 0 || out.n_ab == d.size()) {
        throw std::invalid_argument("order labels: a pair of each order is the least");
    }
    out.sum_ab = compensated_sum(std::span(out.h).first(out.n_ab));
    out.sum = compensated_sum(out.h);
    return out;
}

// C(n, k), or `most` + 1 where it is greater than that.
std::size_t choose_up_to(std::size_t n, std::size_t k, std::size_t most) {
    k = std::min(k, n - k);
    std::size_t out = 1;
    for (std::size_t i = 1; i <= k; ++i) {
        out = out * (n - k + i) / i;
        if (out > most) return most + 1;
    }
    return out;
}

// visit(sum of h over the chosen, how many of the chosen are really BA), for every choice of n_ab.
template <typename Visit>
void each_choice(const HalfDifferences& x, const Visit& visit) {
    const std::size_t n = x.h.size();
    const auto go = [&](const auto& self, std::size_t from, std::size_t left, double sum,
                        std::size_t moved) -> void {
        if (left == 0) {
            visit(sum, moved);
            return;
        }
        for (std::size_t i = from; i + left <= n; ++i) {
            self(self, i + 1, left - 1, sum + x.h[i], moved + (i >= x.n_ab ? 1 : 0));
        }
    };
    go(go, 0, x.n_ab, 0.0, 0);
}

template <typename Visit>
void random_choices(const HalfDifferences& x, std::size_t draws, std::uint64_t seed,
                    const Visit& visit) {
    Draws random(seed);
    std::vector<std::uint32_t> places(x.h.size());
    std::iota(places.begin(), places.end(), 0U);
    for (std::size_t draw = 0; draw < draws; ++draw) {
        double sum = 0;
        std::size_t moved = 0;
        for (std::size_t i = 0; i < x.n_ab; ++i) {
            std::swap(places[i], places[i + random.below(places.size() - i)]);
            sum += x.h[places[i]];
            moved += places[i] >= x.n_ab ? 1 : 0;
        }
        visit(sum, moved);
    }
}

template <typename Visit>
std::size_t choices(const HalfDifferences& x, std::uint64_t seed, const Visit& visit) {
    const std::size_t n = x.h.size();
    // The recursion is as deep as there are AB pairs: long lopsided series are drawn.
    if (n <= 64 && choose_up_to(n, x.n_ab, kExactLabelArrangements) <= kExactLabelArrangements) {
        each_choice(x, visit);
        return 0;
    }
    const std::size_t draws = affordable_draws(kPermutationDraws, x.n_ab);
    random_choices(x, draws, seed, visit);
    return draws;
}

}  // namespace

PermutationP sign_flip_test(std::span<const double> d, std::uint64_t seed) {
    const double observed = std::abs(compensated_sum(d)) - rounding(d);
    if (observed <= 0) return {};
    if (d.size() <= kExactSignFlip) {
        const auto extreme = static_cast<double>(signed_sums_at_least(d, observed));
        return {2 * extreme / std::pow(2.0, static_cast<double>(d.size())), true, 0};
    }
    const std::size_t draws = affordable_draws(kPermutationDraws, d.size());
    Draws random(seed);
    std::size_t extreme = 0;
    for (std::size_t draw = 0; draw < draws; ++draw) {
        double sum = 0;
        flip(d.size(), random, [&](std::size_t i, bool minus) { sum += minus ? -d[i] : d[i]; });
        if (std::abs(sum) >= observed) ++extreme;
    }
    return {static_cast<double>(1 + extreme) / static_cast<double>(1 + draws), false, draws};
}

LogInterval sign_flip_interval(std::span<const double> d, double confidence, std::uint64_t seed) {
    if (d.empty()) throw std::invalid_argument("sign flip: no values");
    const auto [least, greatest] = std::minmax_element(d.begin(), d.end());
    if (d.size() > kExactSignFlip) {
        const std::size_t draws = affordable_draws(kPermutationDraws, d.size());
        Draws random(seed);
        std::vector<double> means;
        while (means.size() < draws) {
            double sum = 0;
            std::size_t count = 0;
            flip(d.size(), random, [&](std::size_t i, bool in) {
                if (in) {
                    sum += d[i];
                    ++count;
                }
            });
            if (count > 0) means.push_back(sum / static_cast<double>(count));
        }
        return between(std::move(means), static_cast<double>(draws + 1), confidence);
    }
    const double arrangements = std::pow(2.0, static_cast<double>(d.size()));
    const double k = std::floor((1 - confidence) / 2 * (1 + 1e-12) * arrangements);
    if (k < 1) return {*least, *greatest, 1 - 2 / arrangements};
    // The k-th smallest subset mean: halve the range until neighbouring doubles are left.
    const auto member = [&](double place) {
        double low = *least;
        double high = *greatest;
        for (int i = 0; i < 60; ++i) {
            const double middle = std::midpoint(low, high);
            const double found = static_cast<double>(subsets_with_mean_at_most(d, middle)) - 1;
            (found >= place ? high : low) = middle;
        }
        return high;
    };
    return {member(k), member(arrangements - k), confidence};
}

PermutationP order_label_test(std::span<const double> d, std::span<const Order> order,
                              std::uint64_t seed) {
    const HalfDifferences x = half_differences(d, order);
    const double slack = rounding(x.h) / static_cast<double>(std::min(x.n_ab, d.size() - x.n_ab));
    const double observed = std::abs(x.statistic(x.sum_ab)) - slack;
    std::size_t extreme = 0;
    std::size_t seen = 0;
    const std::size_t draws = choices(x, seed, [&](double sum, std::size_t) {
        ++seen;
        if (std::abs(x.statistic(sum)) >= observed) ++extreme;
    });
    if (draws == 0) return {static_cast<double>(extreme) / static_cast<double>(seen), true, 0};
    return {static_cast<double>(1 + extreme) / static_cast<double>(1 + draws), false, draws};
}

LogInterval order_label_interval(std::span<const double> d, std::span<const Order> order,
                                 double confidence, std::uint64_t seed) {
    const HalfDifferences x = half_differences(d, order);
    // Exchanging `moved` pairs between the orders leaves the statistic as it is for exactly one
    // value of the change.
    std::vector<double> typical;
    choices(x, seed, [&](double sum, std::size_t moved) {
        if (moved > 0) typical.push_back((x.sum_ab - sum) / static_cast<double>(moved));
    });
    const auto arrangements = static_cast<double>(typical.size() + 1);
    return between(std::move(typical), arrangements, confidence);
}

}  // namespace vsb::stats
