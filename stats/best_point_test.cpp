#include "stats/best_point.h"

#include <gtest/gtest.h>

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace vsb::stats {
namespace {

// Points of the given true log ratios in `rounds` rounds: noise of their own, a drift that all
// points of a round share, and a period effect of 5%.
class Simulated {
  public:
    explicit Simulated(unsigned seed) : random_(seed) {}

    std::vector<PointRounds> draw(const std::vector<double>& truth, std::size_t rounds, double sd,
                                  double shared_sd) {
        std::vector<PointRounds> points(truth.size(), PointRounds(rounds));
        for (std::size_t r = 0; r < rounds; ++r) {
            const double shared = shared_sd * normal_(random_);
            for (std::size_t p = 0; p < truth.size(); ++p) {
                const Order order = (r + p) % 2 == 0 ? Order::ab : Order::ba;
                const double period = order == Order::ab ? 0.05 : -0.05;
                const double d = truth[p] + shared + period + sd * normal_(random_);
                points[p][r] = Pair{3, 3 * std::exp(d), order};
            }
        }
        return points;
    }

  private:
    boost::random::mt19937_64 random_;
    boost::random::normal_distribution<double> normal_;
};

TEST(BestPoint, FindsThePeakAndDropsWhatIsPlainlyBelow) {
    const auto points = Simulated(1).draw({0.1, 0.5, 0.505, 0.2}, 16, 0.02, 0);
    const BestPoint best = best_point(points, Better::higher, 0.95, 7);
    EXPECT_TRUE(best.best == 1 || best.best == 2);
    EXPECT_EQ(best.candidate, (std::vector<bool>{false, true, true, false}));
    EXPECT_GT(best.share[1], 0.02);
    EXPECT_GT(best.share[2], 0.02);
    EXPECT_NEAR(std::accumulate(best.share.begin(), best.share.end(), 0.0), 1, 1e-12);
    EXPECT_EQ(best.rounds, 16U);
    EXPECT_EQ(best.draws, 9999U);
    EXPECT_EQ(best.seed, 7U);
    const BestPoint lowest = best_point(points, Better::lower, 0.95, 7);
    EXPECT_EQ(lowest.best, 0U);
    EXPECT_EQ(lowest.candidate, (std::vector<bool>{true, false, false, false}));
}

TEST(BestPoint, TheSameSeedGivesTheSameAnswer) {
    const auto points = Simulated(2).draw({0.1, 0.11, 0.12}, 8, 0.05, 0.1);
    const BestPoint one = best_point(points, Better::higher, 0.95, 3);
    const BestPoint two = best_point(points, Better::higher, 0.95, 3);
    EXPECT_EQ(one.share, two.share);
    EXPECT_EQ(one.candidate, two.candidate);
    EXPECT_NE(one.share, best_point(points, Better::higher, 0.95, 4).share);
}

// Points that drift together are compared within rounds: a common swing of 50% hides nothing.
TEST(BestPoint, ADriftThatAllPointsShareHidesNothing) {
    const auto points = Simulated(3).draw({0.10, 0.16}, 16, 0.02, 0.5);
    const BestPoint best = best_point(points, Better::higher, 0.95, 1);
    EXPECT_EQ(best.best, 1U);
    EXPECT_FALSE(best.candidate[0]);
}

// A period effect is taken out: with orders at odds it would look like a difference of 20%.
TEST(BestPoint, APeriodEffectIsNoDifference) {
    std::vector<PointRounds> points(2);
    for (int r = 0; r < 8; ++r) {
        const bool ab = r % 2 == 0;
        const double wobble = 1 + 0.001 * r;
        points[0].push_back(Pair{1, (ab ? 1.1 : 1 / 1.1) * wobble, ab ? Order::ab : Order::ba});
        points[1].push_back(Pair{1, (ab ? 1 / 1.1 : 1.1) * 1.02, ab ? Order::ba : Order::ab});
    }
    const BestPoint best = best_point(points, Better::higher, 0.95, 1);
    EXPECT_EQ(best.best, 1U);
    EXPECT_FALSE(best.candidate[0]);
}

TEST(BestPoint, OnlyRoundsWholeInEveryPointCount) {
    auto points = Simulated(4).draw({0.1, 0.5}, 8, 0.01, 0);
    points[0][3].reset();
    points[1][5].reset();
    EXPECT_EQ(best_point(points, Better::higher, 0.95, 1).rounds, 6U);
}

TEST(BestPoint, ExactValuesAreToldApartAndTiesAreNot) {
    std::vector<PointRounds> points(3, PointRounds(4, Pair{1, 2, Order::ab}));
    for (int r : {1, 3})
        for (PointRounds& point : points)
            point[static_cast<std::size_t>(r)]->order = Order::ba;
    for (auto& pair : points[2])
        pair->b = 1.5;
    const BestPoint best = best_point(points, Better::higher, 0.95, 1);
    EXPECT_EQ(best.best, 0U);
    EXPECT_EQ(best.candidate, (std::vector<bool>{true, true, false}));
}

TEST(BestPoint, RefusesWhatHasNoAnswer) {
    const auto refuses = [](const std::vector<PointRounds>& points, double confidence = 0.95) {
        EXPECT_THROW(best_point(points, Better::higher, confidence, 1), std::invalid_argument);
    };
    const auto good = Simulated(5).draw({0.1, 0.2}, 4, 0.01, 0);
    refuses({good[0]});
    refuses(good, 1);
    auto bad = good;
    bad[1].pop_back();
    refuses(bad);
    bad = good;
    bad[0][0].reset();
    refuses(bad);
    bad = good;
    bad[1][2]->b = 0;
    refuses(bad);
}

// The promise: the truly best point is a candidate in at least 95% of experiments. Equal points are
// the hardest case, for there any of them may be the truly best.
TEST(BestPointSlow, TheTrulyBestPointIsKept) {
    Simulated simulated(6);
    constexpr int kReplicates = 2000;
    for (const std::size_t rounds : {8U, 16U}) {
        int kept = 0;
        for (int i = 0; i < kReplicates; ++i) {
            const auto points = simulated.draw({0.2, 0.2, 0.2, 0.2, 0.2}, rounds, 0.05, 0.1);
            kept += best_point(points, Better::higher, 0.95, static_cast<std::uint64_t>(i), 999)
                            .candidate[2]
                        ? 1
                        : 0;
        }
        EXPECT_GE(kept, kReplicates * 0.94) << rounds;
        EXPECT_LE(kept, kReplicates * 0.995) << rounds;  // it does drop points
    }
}

}  // namespace
}  // namespace vsb::stats
