#include "stats/hodges_lehmann.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "stats/draws.h"
#include "stats/kth_smallest.h"
#include "stats/moments.h"
#include "stats/rank_distribution.h"
#include "stats/reference_data.h"

namespace vsb::stats {
namespace {

std::vector<double> random_values(std::size_t n, std::uint64_t seed, bool coarse) {
    Draws random(seed);
    std::vector<double> out(n);
    for (double& x : out) {
        x = static_cast<double>(random.below(2'000'000)) / 1e6 - 0.9;
        if (coarse) x = std::round(x * 5) / 5;
    }
    return out;
}

std::vector<Order> alternating(std::size_t n) {
    std::vector<Order> out(n);
    for (std::size_t i = 0; i < n; ++i)
        out[i] = i % 2 == 0 ? Order::ab : Order::ba;
    return out;
}

// V of every one of the 2^n sign patterns, with midranks counted by hand.
double brute_signed_rank_p(const std::vector<double>& d) {
    std::vector<double> size;
    double v = 0;
    for (const double x : d) {
        if (x != 0) size.push_back(std::abs(x));
    }
    const auto rank = [&](double s) {
        double below = 0;
        double same = 0;
        for (const double other : size) {
            below += other < s ? 1 : 0;
            same += other == s ? 1 : 0;
        }
        return below + (same + 1) / 2;
    };
    std::vector<double> ranks;
    for (const double x : d) {
        if (x == 0) continue;
        ranks.push_back(rank(std::abs(x)));
        if (x > 0) v += ranks.back();
    }
    double low = 0;
    double high = 0;
    const std::size_t patterns = std::size_t{1} << ranks.size();
    for (std::size_t pattern = 0; pattern < patterns; ++pattern) {
        double sum = 0;
        for (std::size_t i = 0; i < ranks.size(); ++i)
            sum += (pattern >> i & 1) != 0 ? ranks[i] : 0;
        low += sum <= v ? 1 : 0;
        high += sum >= v ? 1 : 0;
    }
    return std::min(1.0, 2 * std::min(low, high) / static_cast<double>(patterns));
}

TEST(SignedRank, EqualsGoingThroughAllSigns) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        for (const bool coarse : {false, true}) {
            const auto d = random_values(11, seed, coarse);
            EXPECT_NEAR(signed_rank_test(d).value().p, brute_signed_rank_p(d), 1e-12);
        }
    }
    const std::vector<double> zeros{0, 0};
    EXPECT_FALSE(signed_rank_test(zeros).has_value());
}

TEST(SignedRank, NormalLimitJoinsTheExactP) {
    auto d = random_values(200, 7, false);
    for (double& x : d)
        x -= 0.02;
    const RankTest exact = signed_rank_test(d).value();
    ASSERT_TRUE(exact.exact);
    d.push_back(1e-9);  // the smallest rank of all changes V by one
    const RankTest limit = signed_rank_test(d).value();
    ASSERT_FALSE(limit.exact);
    EXPECT_NEAR(limit.p, exact.p, 0.003);
    // n(n+1)/4 and n(n+1)(2n+1)/24, and half a step towards the mean.
    const double n = 201;
    const double sd = std::sqrt(n * (n + 1) * (2 * n + 1) / 24);
    const double z = (std::abs(limit.statistic - n * (n + 1) / 4) - 0.5) / sd;
    EXPECT_NEAR(limit.p, std::erfc(z / std::sqrt(2.0)), 1e-12);
}

TEST(HodgesLehmann, IsTheMedianOfTheWrittenOutWalshAverages) {
    for (const std::size_t n : {1U, 2U, 5U, 6U, 12U, 33U}) {
        for (const bool coarse : {false, true}) {
            const auto d = random_values(n, n, coarse);
            std::vector<double> walsh;
            for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t j = i; j < n; ++j)
                    walsh.push_back(0.5 * (d[i] + d[j]));
            }
            std::sort(walsh.begin(), walsh.end());
            const HodgesLehmann found = hodges_lehmann(d, 0.95);
            EXPECT_EQ(found.theta, median(walsh));
            // k counts the sums s = 0, 1, ... of the null distribution that fit into the tail.
            std::vector<std::uint32_t> ranks(n);
            for (std::size_t i = 0; i < n; ++i)
                ranks[i] = static_cast<std::uint32_t>(2 * (i + 1));
            const auto p = signed_rank_distribution(ranks);
            std::size_t k = 0;
            double tail = 0;
            while (tail + p[2 * k] <= 0.025)
                tail += p[2 * k++];
            EXPECT_EQ(found.interval.confidence >= 0.95, k > 0);
            k = std::max<std::size_t>(k, 1);
            EXPECT_EQ(found.interval.low, walsh[k - 1]);
            EXPECT_EQ(found.interval.high, walsh[walsh.size() - k]);
        }
    }
}

TEST(HodgesLehmann, SixPairsAreTheLeastFor95Percent) {
    EXPECT_LT(hodges_lehmann(random_values(5, 1, false), 0.95).interval.confidence, 0.95);
    EXPECT_EQ(hodges_lehmann(random_values(6, 1, false), 0.95).interval.confidence, 0.95);
    EXPECT_NEAR(hodges_lehmann(random_values(3, 1, false), 0.95).interval.confidence, 0.75, 1e-15);
}

TEST(HodgesLehmann, ExactAndLimitPlacesJoin) {
    const auto d = random_values(201, 3, false);
    const auto limit = hodges_lehmann(d, 0.95);
    const auto exact = hodges_lehmann(std::span(d).first(200), 0.95);
    EXPECT_NEAR(limit.interval.low, exact.interval.low, 0.02);
    EXPECT_NEAR(limit.interval.high, exact.interval.high, 0.02);
}

TEST(RankSum, EqualsGoingThroughAllChoices) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        for (const bool coarse : {false, true}) {
            const auto d = random_values(9, seed, coarse);
            const auto order = alternating(9);
            std::vector<double> h;
            for (std::size_t i = 0; i < d.size(); ++i) {
                h.push_back(order[i] == Order::ab ? d[i] / 2 : -d[i] / 2);
            }
            const auto doubled = doubled_midranks(h);
            const auto sum = [&](unsigned choice) {
                unsigned total = 0;
                for (std::size_t i = 0; i < h.size(); ++i)
                    total += (choice >> i & 1) * doubled[i];
                return total;
            };
            const unsigned observed = sum(0b101010101U);
            double low = 0;
            double high = 0;
            double all = 0;
            for (unsigned choice = 0; choice < 512; ++choice) {
                if (std::popcount(choice) != 5) continue;
                all += 1;
                low += sum(choice) <= observed ? 1 : 0;
                high += sum(choice) >= observed ? 1 : 0;
            }
            const double p = std::min(1.0, 2 * std::min(low, high) / all);
            EXPECT_NEAR(rank_sum_test(d, order).p, p, 1e-12);
        }
    }
}

TEST(RankSum, ShiftIsTheMedianOfTheWrittenOutDifferences) {
    const auto d = random_values(14, 5, false);
    const auto order = alternating(14);
    std::vector<double> differences;
    for (std::size_t i = 0; i < d.size(); i += 2) {
        for (std::size_t j = 1; j < d.size(); j += 2)
            differences.push_back(d[i] / 2 + d[j] / 2);
    }
    std::sort(differences.begin(), differences.end());
    const HodgesLehmann found = hodges_lehmann_period_adjusted(d, order, 0.95);
    EXPECT_EQ(found.theta, median(differences));
    EXPECT_EQ(found.interval.low, differences[8]);  // qwilcox(0.025, 7, 7) = 9
    EXPECT_EQ(found.interval.high, differences[differences.size() - 9]);
}

TEST(RankSum, NeedsBothOrders) {
    const std::vector<double> d{1, 2};
    const std::vector<Order> order{Order::ab, Order::ab};
    EXPECT_THROW(rank_sum_test(d, order), std::invalid_argument);
    EXPECT_THROW(hodges_lehmann_period_adjusted(d, order, 0.95), std::invalid_argument);
}

TEST(KthSmallest, FindsEveryMemberToTheBit) {
    const std::vector<double> members{-1e300, -2.5, -2.5, -0.0, 1e-310, 0.1, 0.1 + 1e-16, 7, 1e300};
    for (std::size_t k = 1; k <= members.size(); ++k) {
        const auto at_most = [&](double v) {
            return static_cast<std::uint64_t>(
                std::count_if(members.begin(), members.end(), [&](double m) { return m <= v; }));
        };
        EXPECT_EQ(kth_smallest(-1e300, 1e300, k, at_most), members[k - 1]);
    }
}

std::vector<double> log_ratios_of(const std::vector<Pair>& pairs) {
    std::vector<double> d;
    for (const Pair& pair : pairs)
        d.push_back(std::log(pair.b / pair.a));
    return d;
}

std::vector<Order> orders_of(const std::vector<Pair>& pairs) {
    std::vector<Order> order;
    for (const Pair& pair : pairs)
        order.push_back(pair.order);
    return order;
}

// R 4.2.2, wilcox.test on the paired log ratios of the crossover sets.
TEST(HodgesLehmannReference, SignedRankFiguresOfR) {
    VSB_NEED_FOLDER(testing::reference_folder());
    struct Row {
        char set;
        double v, p, theta, low, high;
    };
    for (const Row& want :
         {Row{'A', 46, 0.0897674560547, -0.0519095404434, -0.11884056252, 0.00681924272954},
          Row{'B', 47, 0.0987396240234, -0.275841276087, -0.658686075512, 0.030349829824},
          Row{'F', 2506, 0.949508545249, -0.00137007555838, -0.0815619047979, 0.0775512665229}}) {
        SCOPED_TRACE(want.set);
        const auto d = log_ratios_of(testing::crossover_set(want.set));
        const RankTest test = signed_rank_test(d).value();
        EXPECT_TRUE(test.exact);
        EXPECT_EQ(test.statistic, want.v);
        EXPECT_NEAR(test.p, want.p, 5.1e-13);
        const HodgesLehmann found = hodges_lehmann(d, 0.95);
        EXPECT_NEAR(found.theta, want.theta, 1e-12);
        EXPECT_NEAR(found.interval.low, want.low, 1e-12);
        EXPECT_NEAR(found.interval.high, want.high, 1e-12);
    }
}

TEST(HodgesLehmannReference, RankSumFiguresOfR) {
    VSB_NEED_FOLDER(testing::reference_folder());
    struct Row {
        char set;
        double w, p, low, high;
    };
    for (const Row& want : {Row{'A', 20, 0.0770053475936, -0.117531577278, 0.00602520206816},
                            Row{'B', 22, 0.113492389963, -0.759146197119, 0.0801755506766}}) {
        SCOPED_TRACE(want.set);
        const auto pairs = testing::crossover_set(want.set);
        const auto d = log_ratios_of(pairs);
        const auto order = orders_of(pairs);
        const RankTest test = rank_sum_test(d, order);
        EXPECT_EQ(std::min(test.statistic, 81 - test.statistic), want.w);
        EXPECT_NEAR(test.p, want.p, 5.1e-13);
        const HodgesLehmann found = hodges_lehmann_period_adjusted(d, order, 0.95);
        if (want.set == 'A') {
            EXPECT_NEAR(found.theta, -0.0519095404434, 1e-12);
        }
        EXPECT_NEAR(found.interval.low, want.low, 1e-12);
        EXPECT_NEAR(found.interval.high, want.high, 1e-12);
    }
}

TEST(HodgesLehmannReference, MedianAbsoluteDeviation) {
    VSB_NEED_FOLDER(testing::reference_folder());
    EXPECT_NEAR(median_absolute_deviation(log_ratios_of(testing::crossover_set('A'))),
                0.0929284524534, 1e-12);
    EXPECT_NEAR(median_absolute_deviation(log_ratios_of(testing::crossover_set('B'))),
                0.467720003876, 1e-12);
}

}  // namespace
}  // namespace vsb::stats
