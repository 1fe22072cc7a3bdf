#include "stats/permutation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "stats/draws.h"
#include "stats/reference_data.h"

namespace vsb::stats {
namespace {

std::vector<double> random_values(std::size_t n, std::uint64_t seed) {
    Draws random(seed);
    std::vector<double> out(n);
    for (double& x : out)
        x = static_cast<double>(random.below(2000)) / 1000 - 0.85;
    return out;
}

std::vector<Order> alternating(std::size_t n) {
    std::vector<Order> out(n);
    for (std::size_t i = 0; i < n; ++i)
        out[i] = i % 2 == 0 ? Order::ab : Order::ba;
    return out;
}

double brute_sign_flip_p(const std::vector<double>& d) {
    double total = 0;
    for (const double x : d)
        total += x;
    double extreme = 0;
    const std::size_t patterns = std::size_t{1} << d.size();
    for (std::size_t pattern = 0; pattern < patterns; ++pattern) {
        double sum = 0;
        for (std::size_t i = 0; i < d.size(); ++i)
            sum += (pattern >> i & 1) != 0 ? -d[i] : d[i];
        extreme += std::abs(sum) >= std::abs(total) - 1e-12 ? 1 : 0;
    }
    return extreme / static_cast<double>(patterns);
}

TEST(SignFlip, EqualsGoingThroughAllSigns) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const auto d = random_values(3 + seed % 10, seed);
        const PermutationP found = sign_flip_test(d, 1);
        EXPECT_TRUE(found.exact);
        EXPECT_NEAR(found.p, brute_sign_flip_p(d), 1e-12);
    }
}

// 0.1 + 0.2 and 0.3 differ in the last bit and are the same change.
TEST(SignFlip, TiesUpToRoundingCount) {
    const std::vector<double> d{0.1, 0.2, -0.3, 0.3, 0.6};
    EXPECT_NEAR(sign_flip_test(d, 1).p, brute_sign_flip_p(d), 1e-12);
    const std::vector<double> balanced{0.1, 0.2, -0.3};
    EXPECT_EQ(sign_flip_test(balanced, 1).p, 1);
    EXPECT_EQ(sign_flip_test({}, 1).p, 1);
}

TEST(SignFlip, ExactToTwentyPairsAndDrawnBeyond) {
    auto d = random_values(20, 4);
    EXPECT_TRUE(sign_flip_test(d, 1).exact);
    const double exact = sign_flip_test(d, 1).p;
    EXPECT_NEAR(exact, brute_sign_flip_p(d), 1e-12);
    d.push_back(1e-7);
    const PermutationP drawn = sign_flip_test(d, 1);
    EXPECT_FALSE(drawn.exact);
    EXPECT_EQ(drawn.draws, kPermutationDraws);
    EXPECT_NEAR(drawn.p, exact, 5 * std::sqrt(exact / 1e5));
    EXPECT_EQ(sign_flip_test(d, 1).p, drawn.p);
    EXPECT_NE(sign_flip_test(d, 2).p, drawn.p);
}

TEST(SignFlip, DrawnPIsNeverZero) {
    const std::vector<double> d(40, 1.0);
    EXPECT_EQ(sign_flip_test(d, 1).p, 1.0 / (1 + kPermutationDraws));
}

// A change just inside the bounds is not rejected at 5%, one just outside is.
TEST(SignFlip, IntervalIsTheInversionOfTheTest) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const auto d = random_values(10, seed);
        const LogInterval bounds = sign_flip_interval(d, 0.95, 1);
        const auto p_of = [&](double shift) {
            std::vector<double> moved = d;
            for (double& x : moved)
                x -= shift;
            return sign_flip_test(moved, 1).p;
        };
        EXPECT_GT(p_of(bounds.low + 1e-9), 0.05);
        EXPECT_LE(p_of(bounds.low - 1e-9), 0.05);
        EXPECT_GT(p_of(bounds.high - 1e-9), 0.05);
        EXPECT_LE(p_of(bounds.high + 1e-9), 0.05);
    }
}

TEST(SignFlip, DrawnIntervalComesCloseToTheExactOne) {
    const auto d = random_values(20, 9);
    const LogInterval exact = sign_flip_interval(d, 0.95, 1);
    std::vector<double> more = d;
    more.push_back((exact.low + exact.high) / 2);
    const LogInterval drawn = sign_flip_interval(more, 0.95, 1);
    EXPECT_NEAR(drawn.low, exact.low, 0.03);
    EXPECT_NEAR(drawn.high, exact.high, 0.03);
}

TEST(SignFlip, FivePairsReach93Percent) {
    const auto d = random_values(5, 2);
    const LogInterval bounds = sign_flip_interval(d, 0.95, 1);
    EXPECT_EQ(bounds.confidence, 1 - 2.0 / 32);
    EXPECT_EQ(bounds.low, *std::min_element(d.begin(), d.end()));
}

double brute_label_p(const std::vector<double>& d, const std::vector<Order>& order) {
    std::vector<double> h;
    unsigned ab = 0;
    for (std::size_t i = 0; i < d.size(); ++i) {
        h.push_back(order[i] == Order::ab ? d[i] / 2 : -d[i] / 2);
        ab |= (order[i] == Order::ab ? 1U : 0U) << i;
    }
    const auto statistic = [&](unsigned choice) {
        double in = 0;
        double out = 0;
        for (std::size_t i = 0; i < h.size(); ++i)
            ((choice >> i & 1) != 0 ? in : out) += h[i];
        const double n1 = std::popcount(choice);
        return std::abs(in / n1 - out / (static_cast<double>(h.size()) - n1));
    };
    double extreme = 0;
    double all = 0;
    for (unsigned choice = 0; choice < 1U << h.size(); ++choice) {
        if (std::popcount(choice) != std::popcount(ab)) continue;
        all += 1;
        extreme += statistic(choice) >= statistic(ab) - 1e-12 ? 1 : 0;
    }
    return extreme / all;
}

TEST(OrderLabels, EqualsGoingThroughAllChoices) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const auto d = random_values(6 + seed % 6, seed);
        auto order = alternating(d.size());
        order[1] = Order::ab;  // and not balanced
        const PermutationP found = order_label_test(d, order, 1);
        EXPECT_TRUE(found.exact);
        EXPECT_NEAR(found.p, brute_label_p(d, order), 1e-12);
    }
}

// The sign flip is misled by a period effect in an unbalanced plan; the order labels are not.
TEST(OrderLabels, APeriodEffectAloneIsNoChange) {
    const std::vector<double> noise = random_values(12, 3);
    std::vector<double> d;
    std::vector<Order> order;
    for (std::size_t i = 0; i < 12; ++i) {
        order.push_back(i < 9 ? Order::ab : Order::ba);
        d.push_back((i < 9 ? 5.0 : -5.0) + 0.1 * noise[i]);
    }
    EXPECT_GT(order_label_test(d, order, 1).p, 0.05);
    EXPECT_LT(sign_flip_test(d, 1).p, 0.2);
    const LogInterval bounds = order_label_interval(d, order, 0.95, 1);
    EXPECT_TRUE(bounds.holds(0.0));
    EXPECT_LT(bounds.high - bounds.low, 0.5);
}

TEST(OrderLabels, IntervalIsTheInversionOfTheTest) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const auto d = random_values(10, seed);
        const auto order = alternating(10);
        const LogInterval bounds = order_label_interval(d, order, 0.90, 1);
        const auto p_of = [&](double shift) {
            std::vector<double> moved = d;
            for (double& x : moved)
                x -= shift;
            return order_label_test(moved, order, 1).p;
        };
        EXPECT_EQ(bounds.confidence, 0.90);
        EXPECT_GT(p_of(bounds.low + 1e-9), 0.10);
        EXPECT_LE(p_of(bounds.low - 1e-9), 0.10 + 2.0 / 252);
        EXPECT_GT(p_of(bounds.high - 1e-9), 0.10);
        EXPECT_LE(p_of(bounds.high + 1e-9), 0.10 + 2.0 / 252);
    }
}

// Where every pair says the same, every arrangement does: of AB and BA alike, counted rightly.
TEST(OrderLabels, DrawnAllEqualIsThePointAndAPNeverZero) {
    const std::vector<double> d(40, 0.3);
    const auto order = alternating(40);
    const PermutationP found = order_label_test(d, order, 1);
    ASSERT_FALSE(found.exact);
    EXPECT_EQ(found.p, 1.0 / static_cast<double>(1 + found.draws));
    const LogInterval bounds = order_label_interval(d, order, 0.95, 1);
    EXPECT_NEAR(bounds.low, 0.3, 1e-12);
    EXPECT_NEAR(bounds.high, 0.3, 1e-12);
}

TEST(OrderLabels, DrawnBeyondTwentyPairs) {
    auto d = random_values(20, 8);
    auto order = alternating(20);
    const PermutationP exact = order_label_test(d, order, 1);
    EXPECT_TRUE(exact.exact);
    d.insert(d.end(), {0.0, 0.0});
    order.insert(order.end(), {Order::ab, Order::ba});
    const PermutationP drawn = order_label_test(d, order, 1);
    EXPECT_FALSE(drawn.exact);
    EXPECT_NEAR(drawn.p, exact.p, 0.1);
    EXPECT_EQ(order_label_test(d, order, 1).p, drawn.p);
}

TEST(OrderLabels, NeedBothOrders) {
    const std::vector<double> d{1, 2};
    const std::vector<Order> order{Order::ba, Order::ba};
    EXPECT_THROW(order_label_test(d, order, 1), std::invalid_argument);
}

// R 4.2.2, all 2^18 sign patterns.
TEST(PermutationReference, SignFlipOfTheCrossoverSets) {
    VSB_NEED_FOLDER(testing::reference_folder());
    struct Row {
        char set;
        double p;
    };
    for (const Row& want : {Row{'A', 0.123092651367}, Row{'B', 0.0719757080078}}) {
        std::vector<double> d;
        for (const Pair& pair : testing::crossover_set(want.set)) {
            d.push_back(std::log(pair.b / pair.a));
        }
        EXPECT_NEAR(sign_flip_test(d, 1).p, want.p, 5.1e-13);
    }
}

}  // namespace
}  // namespace vsb::stats
