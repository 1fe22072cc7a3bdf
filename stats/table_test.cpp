// Tables of many rows: Holm, Benjamini-Hochberg, maxT, simultaneous intervals, table-wide signs.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "stats/adjust.h"
#include "stats/distributions.h"
#include "stats/draws.h"
#include "stats/max_t.h"
#include "stats/moments.h"
#include "stats/permutation.h"

namespace vsb::stats {
namespace {

void expect_near(const std::vector<double>& got, const std::vector<double>& want) {
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i)
        EXPECT_NEAR(got[i], want[i], 1e-12) << i;
}

// By hand: Holm multiplies the i-th smallest of m by m - i + 1, BH by m / i, both made monotone.
TEST(Adjust, HolmByHand) {
    expect_near(holm(std::vector{0.04, 0.01, 0.03, 0.005}), {0.06, 0.03, 0.06, 0.02});
    expect_near(holm(std::vector{0.6, 0.9}), {1, 1});
    expect_near(holm({}), {});
}

TEST(Adjust, BenjaminiHochbergByHand) {
    expect_near(benjamini_hochberg(std::vector{0.04, 0.01, 0.03, 0.005}), {0.04, 0.02, 0.04, 0.02});
    expect_near(benjamini_hochberg(std::vector{0.9, 0.001, 0.5}), {0.9, 0.003, 0.75});
    // 3/2 x 0.04 is more than 0.041, which stands above it.
    expect_near(benjamini_hochberg(std::vector{0.01, 0.04, 0.041}), {0.03, 0.041, 0.041});
}

TEST(Adjust, RefusesWhatIsNoP) {
    EXPECT_THROW(holm(std::vector{0.5, 1.5}), std::invalid_argument);
    EXPECT_THROW(benjamini_hochberg(std::vector{std::numeric_limits<double>::quiet_NaN()}),
                 std::invalid_argument);
}

std::vector<TableRow> random_table(std::size_t rows, std::size_t pairs, std::uint64_t seed) {
    Draws random(seed);
    std::vector<TableRow> out(rows, TableRow(pairs));
    for (std::size_t r = 0; r < rows; ++r) {
        for (auto& x : out[r]) {
            x = static_cast<double>(random.below(1000)) / 1000 - 0.5 +
                0.12 * static_cast<double>(r);
        }
    }
    return out;
}

double t_of(const std::vector<double>& d) {
    const Moments m = moments(d);
    return std::abs(m.mean) / (m.sd() / std::sqrt(static_cast<double>(m.n)));
}

// Step-down maxT written out, with Student's t itself as the statistic.
std::vector<double> brute_max_t(const std::vector<TableRow>& rows) {
    const std::size_t pairs = rows[0].size();
    std::vector<double> observed;
    for (const TableRow& row : rows) {
        std::vector<double> d;
        for (const auto& x : row)
            d.push_back(*x);
        observed.push_back(t_of(d));
    }
    std::vector<double> p(rows.size(), 0);
    for (std::size_t pattern = 0; pattern < std::size_t{1} << pairs; ++pattern) {
        std::vector<double> flipped;
        for (const TableRow& row : rows) {
            std::vector<double> d;
            for (std::size_t i = 0; i < pairs; ++i)
                d.push_back((pattern >> i & 1) != 0 ? -*row[i] : *row[i]);
            flipped.push_back(t_of(d));
        }
        for (std::size_t r = 0; r < rows.size(); ++r) {
            double greatest = 0;
            for (std::size_t other = 0; other < rows.size(); ++other) {
                if (observed[other] <= observed[r]) greatest = std::max(greatest, flipped[other]);
            }
            p[r] += greatest >= observed[r] * (1 - 1e-9) ? 1 : 0;
        }
    }
    for (double& x : p)
        x /= std::pow(2.0, static_cast<double>(pairs));
    std::vector<double> monotone = p;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        for (std::size_t other = 0; other < rows.size(); ++other) {
            if (observed[other] >= observed[r]) monotone[r] = std::max(monotone[r], p[other]);
        }
    }
    return monotone;
}

TEST(MaxT, EqualsTheWrittenOutStepDown) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const auto rows = random_table(4, 8, seed);
        const MaxT found = max_t(rows, 0.95, 1);
        EXPECT_TRUE(found.exact);
        const auto want = brute_max_t(rows);
        for (std::size_t r = 0; r < rows.size(); ++r)
            EXPECT_NEAR(found.p[r].value(), want[r], 1e-12);
    }
}

TEST(MaxT, OneRowIsTheSignFlipTest) {
    const auto rows = random_table(1, 12, 3);
    std::vector<double> d;
    for (const auto& x : rows[0])
        d.push_back(*x);
    EXPECT_NEAR(max_t(rows, 0.95, 1).p[0].value(), sign_flip_test(d, 1).p, 1e-12);
}

TEST(MaxT, CopiesOfARowCostNothing) {
    const auto one = random_table(1, 12, 6);
    const std::vector<TableRow> three(3, one[0]);
    EXPECT_EQ(max_t(three, 0.95, 1).p[2], max_t(one, 0.95, 1).p[0]);
    EXPECT_EQ(max_t(three, 0.95, 1).critical, max_t(one, 0.95, 1).critical);
}

TEST(MaxT, CriticalValueOfOneRowIsTheQuantileOfItsFlippedResiduals) {
    const auto rows = random_table(1, 10, 4);
    std::vector<double> d;
    for (const auto& x : rows[0])
        d.push_back(*x);
    const double mean = moments(d).mean;
    std::vector<double> t;
    for (std::size_t pattern = 0; pattern < 1U << 10; ++pattern) {
        std::vector<double> flipped;
        for (std::size_t i = 0; i < d.size(); ++i)
            flipped.push_back((pattern >> i & 1) != 0 ? mean - d[i] : d[i] - mean);
        t.push_back(t_of(flipped));
    }
    std::sort(t.begin(), t.end());
    const auto place = static_cast<std::size_t>(std::ceil(0.95 * 1024));
    EXPECT_NEAR(max_t(rows, 0.95, 1).critical, t[place - 1], 1e-9);
}

TEST(MaxT, DrawnPIsNeverZero) {
    auto rows = random_table(2, 40, 5);
    for (TableRow& row : rows) {
        for (auto& x : row)
            *x += 10;
    }
    const MaxT found = max_t(rows, 0.95, 1, 5000);
    EXPECT_EQ(found.p[0].value(), 1.0 / 5001);
    EXPECT_EQ(found.p[1].value(), 1.0 / 5001);
}

TEST(MaxT, DrawnComesCloseToExactAndRepeats) {
    auto rows = random_table(5, 20, 9);
    const MaxT exact = max_t(rows, 0.95, 1);
    for (TableRow& row : rows)
        row.push_back(std::nullopt);  // a 21st pair that no row has
    const MaxT drawn = max_t(rows, 0.95, 7, 20'000);
    EXPECT_FALSE(drawn.exact);
    EXPECT_EQ(drawn.draws, 20'000U);
    EXPECT_EQ(drawn.seed, 7U);
    for (std::size_t r = 0; r < rows.size(); ++r) {
        EXPECT_NEAR(drawn.p[r].value(), exact.p[r].value(), 0.02);
        EXPECT_NEAR(drawn.intervals[r].high, exact.intervals[r].high, 0.02);
    }
    EXPECT_EQ(max_t(rows, 0.95, 7, 20'000).p, drawn.p);
}

// Many rows ask for more than one row's t, and for less than Bonferroni's.
TEST(MaxT, CriticalValueLiesBetweenOneRowAndBonferroni) {
    const auto rows = random_table(12, 16, 2);
    const double critical = max_t(rows, 0.95, 1).critical;
    EXPECT_GT(critical, t_quantile(0.975, 15) * 1.1);
    EXPECT_LT(critical, t_quantile(1 - 0.025 / 12, 15) * 1.10);
}

// 2^(n-1) arrangements have no 5% tail before n = 6.
TEST(MaxT, TooFewPairsBoundNothing) {
    for (const std::size_t n : {2U, 3U, 5U}) {
        const MaxT found = max_t(random_table(2, n, 4), 0.95, 1);
        EXPECT_TRUE(std::isinf(found.intervals[0].low)) << n;
        EXPECT_TRUE(std::isinf(found.intervals[1].high)) << n;
    }
    EXPECT_TRUE(std::isfinite(max_t(random_table(2, 6, 4), 0.95, 1).intervals[0].high));
    EXPECT_TRUE(std::isfinite(max_t(random_table(2, 5, 4), 0.9, 1).intervals[0].high));
}

TEST(MaxT, ARowWithoutSpreadHasAPointAndNoP) {
    auto rows = random_table(2, 8, 4);
    for (auto& x : rows[1])
        x = 0.3;
    const MaxT found = max_t(rows, 0.95, 1);
    EXPECT_TRUE(found.p[0].has_value());
    EXPECT_FALSE(found.p[1].has_value());
    EXPECT_NEAR(found.intervals[1].low, 0.3, 1e-15);
    EXPECT_EQ(found.intervals[1].low, found.intervals[1].high);
}

TEST(MaxT, ErrorsNameTheRow) {
    EXPECT_THROW(max_t({}, 0.95, 1), std::invalid_argument);
    auto rows = random_table(2, 4, 1);
    rows[1].pop_back();
    EXPECT_THROW(max_t(rows, 0.95, 1), std::invalid_argument);
    rows[1] = TableRow{0.1, std::nullopt, std::nullopt, std::nullopt};
    EXPECT_THROW(max_t(rows, 0.95, 1), std::invalid_argument);
    rows[1] = TableRow{0.1, 0.2, std::numeric_limits<double>::infinity(), 0.1};
    EXPECT_THROW(max_t(rows, 0.95, 1), std::invalid_argument);
    EXPECT_THROW(max_t(random_table(2, 4, 1), 1.0, 1), std::invalid_argument);
}

TEST(TableSign, CopiesOfARowAreOneRow) {
    // Ten copies are ten votes of the same pairs: only the flips know.
    std::vector<TableRow> copies(10, TableRow{0.5123, 0.3217, 0.4331, -0.1459, 0.2573, 0.1601});
    const TableSign found = table_sign_test(copies, 1);
    EXPECT_EQ(found.positive, 10U);
    EXPECT_EQ(found.rows, 10U);
    EXPECT_NEAR(found.p_independent, 2 / 1024.0, 1e-12);
    EXPECT_NEAR(found.p, fair_binomial_two_sided_p(5, 6), 1e-12);  // the lone row's own sign test
}

TEST(TableSign, ATableThatIsWhollyOnOneSideIsNoAccident) {
    // What two levels of a machine do: every row moves together, and B is below in all pairs.
    std::vector<TableRow> rows(8, TableRow(16));
    for (std::size_t r = 0; r < rows.size(); ++r) {
        for (std::size_t i = 0; i < 16; ++i)
            rows[r][i] = -1.1 - 0.01 * static_cast<double>(r) - (i % 2 == 0 ? 0.2 : 0.0);
    }
    const TableSign found = table_sign_test(rows, 1);
    EXPECT_EQ(found.positive, 0U);
    EXPECT_NEAR(found.p, 2 / 65536.0, 1e-12);
}

TEST(TableSign, EqualsTheWrittenOutFlips) {
    auto rows = random_table(7, 9, 12);
    rows[2][4] = 0.0;  // a tie has no vote
    const auto lead = [&](std::size_t pattern) {
        int votes = 0;
        for (const TableRow& row : rows) {
            for (std::size_t i = 0; i < row.size(); ++i) {
                const int sign = *row[i] > 0 ? 1 : *row[i] < 0 ? -1 : 0;
                votes += (pattern >> i & 1) != 0 ? -sign : sign;
            }
        }
        return std::abs(votes);
    };
    double extreme = 0;
    for (std::size_t pattern = 0; pattern < 512; ++pattern)
        extreme += lead(pattern) >= lead(0) ? 1 : 0;
    EXPECT_NEAR(table_sign_test(rows, 1).p, extreme / 512, 1e-12);
}

}  // namespace
}  // namespace vsb::stats
