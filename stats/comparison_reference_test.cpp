// compare() against published crossover figures, and against a least-squares fit of its own.
// Schuetz, Labes, Fuglsang 2014, AAPS J 16(6):1292, doi 10.1208/s12248-014-9661-0; figures as in
// the reference folder's README.

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <optional>
#include <vector>

#include "stats/comparison.h"
#include "stats/distributions.h"
#include "stats/reference_data.h"

namespace vsb::stats {
namespace {

using testing::crossover_set;
using testing::reference_folder;

struct Published {
    char set;
    std::size_t ab, ba;
    double ratio, low90, high90, low95, high95;  // percent
    double df, se;
};

constexpr Published kPublished[] = {
    {'A', 9, 9, 95.086158, 90.762084, 99.616239, 89.861621, 100.614448, 16, 0.0266580113},
    {'B', 9, 9, 71.100494, 51.449239, 98.257629, 48.004387, 105.308716, 16, 0.1852921901},
    {'C', 9, 4, 58.562934, 39.407876, 87.028725, 36.039252, 95.163386, 11, 0.2205799981},
    {'D', 9, 9, 71.100494, 51.449239, 98.257629, 48.004387, 105.308716, 16, 0.1852921901},
    {'F', 50, 50, 99.889650, 93.372247, 106.861968, 92.151386, 108.277722, 98, 0.0406322359},
};
constexpr double kSixDecimals = 5.0e-7 + 1e-12;

Comparison run(char set, Method method, double confidence) {
    return compare(crossover_set(set), {.method = method, .confidence = confidence});
}

double percent(double change) {
    return 100 * (1 + change);
}

TEST(CrossoverReference, RatioIntervalDfAndSeToTheirPrintedDigits) {
    VSB_NEED_FOLDER(reference_folder());
    for (const Published& want : kPublished) {
        SCOPED_TRACE(want.set);
        const Comparison at90 = run(want.set, Method::crossover_t, 0.90);
        const Comparison at95 = run(want.set, Method::crossover_t, 0.95);
        EXPECT_EQ(at90.method, Method::crossover_t);
        EXPECT_EQ(at90.n_ab, want.ab);
        EXPECT_EQ(at90.n_ba, want.ba);
        EXPECT_NEAR(percent(at90.change), want.ratio, kSixDecimals);
        EXPECT_NEAR(100 * at90.ratio, want.ratio, kSixDecimals);
        EXPECT_NEAR(percent(at90.ci.low), want.low90, kSixDecimals);
        EXPECT_NEAR(percent(at90.ci.high), want.high90, kSixDecimals);
        EXPECT_NEAR(percent(at95.ci.low), want.low95, kSixDecimals);
        EXPECT_NEAR(percent(at95.ci.high), want.high95, kSixDecimals);
        EXPECT_EQ(at90.df, want.df);
        EXPECT_NEAR(at90.se_log.value(), want.se, 5.1e-11);
        EXPECT_NEAR(at90.b / at90.a, at90.ratio, 1e-12);
    }
}

struct LeastSquares {
    double state = 0, period = 0, se = 0, df = 0;
};

// ln y ~ pair + period + state by a QR factorisation: no formula of ours in it.
LeastSquares fit_least_squares(const std::vector<Pair>& pairs) {
    const auto n = static_cast<Eigen::Index>(pairs.size());
    Eigen::MatrixXd x = Eigen::MatrixXd::Zero(2 * n, n + 2);
    Eigen::VectorXd y(2 * n);
    for (Eigen::Index i = 0; i < n; ++i) {
        const Pair& pair = pairs[static_cast<std::size_t>(i)];
        for (const bool is_b : {false, true}) {
            const Eigen::Index row = 2 * i + (is_b ? 1 : 0);
            const bool second = is_b == (pair.order == Order::ab);
            x(row, i) = 1;
            x(row, n) = second ? 1 : 0;
            x(row, n + 1) = is_b ? 1 : 0;
            y(row) = std::log(is_b ? pair.b : pair.a);
        }
    }
    const Eigen::VectorXd beta = x.colPivHouseholderQr().solve(y);
    const double df = static_cast<double>(2 * n - (n + 2));
    const double s2 = (y - x * beta).squaredNorm() / df;
    const Eigen::MatrixXd inverse = (x.transpose() * x).inverse();
    return {beta(n + 1), beta(n), std::sqrt(s2 * inverse(n + 1, n + 1)), df};
}

TEST(CrossoverReference, AgreesWithAnIndependentLeastSquaresFit) {
    VSB_NEED_FOLDER(reference_folder());
    for (const Published& want : kPublished) {
        SCOPED_TRACE(want.set);
        const LeastSquares fit = fit_least_squares(crossover_set(want.set));
        const Comparison ours = run(want.set, Method::crossover_t, 0.95);
        const double reach = t_quantile(0.975, fit.df) * fit.se;
        EXPECT_NEAR(std::log1p(ours.change) / fit.state, 1, 1e-8);
        EXPECT_NEAR(ours.se_log.value() / fit.se, 1, 1e-8);
        EXPECT_EQ(ours.df, fit.df);
        EXPECT_NEAR(std::log1p(ours.ci.low) / (fit.state - reach), 1, 1e-8);
        EXPECT_NEAR(std::log1p(ours.ci.high) / (fit.state + reach), 1, 1e-8);
        EXPECT_NEAR(ours.p.value() / t_two_sided_p(fit.state / fit.se, fit.df), 1, 1e-8);
        EXPECT_NEAR(std::log1p(ours.period.value().effect) / fit.period, 1, 1e-8);
        EXPECT_NEAR(ours.period->p.value() / t_two_sided_p(fit.period / fit.se, fit.df), 1, 1e-8);
    }
}

TEST(CrossoverReference, PairedTIsToldApart) {
    VSB_NEED_FOLDER(reference_folder());
    struct Row {
        char set;
        double ratio, low, high;
    };
    for (const Row& want :
         {Row{'A', 95.086158, 90.083452, 100.366684}, Row{'B', 71.100494, 51.689205, 97.801470},
          Row{'C', 66.783266, 45.513724, 97.992524}, Row{'F', 99.889650, 93.404730, 106.824805}}) {
        SCOPED_TRACE(want.set);
        const Comparison got = run(want.set, Method::paired_t, 0.90);
        EXPECT_NEAR(percent(got.change), want.ratio, kSixDecimals);
        EXPECT_NEAR(percent(got.ci.low), want.low, kSixDecimals);
        EXPECT_NEAR(percent(got.ci.high), want.high, kSixDecimals);
        EXPECT_NEAR(got.b / got.a, got.ratio, 1e-12);
    }
}

TEST(CrossoverReference, PeriodEffectHasTheOppositeSignOfTheBooks) {
    VSB_NEED_FOLDER(reference_folder());
    const Comparison a = run('A', Method::crossover_t, 0.95);
    EXPECT_NEAR(std::log1p(a.period.value().effect), 0.07098487, 5e-9);
    EXPECT_NEAR(a.period->p.value(), 0.0170188, 5e-8);
    const Comparison c = run('C', Method::crossover_t, 0.95);
    EXPECT_NEAR(std::log1p(c.period.value().effect), 0.34151150, 5e-9);
    EXPECT_NEAR(c.period->p.value(), 0.149837, 5e-7);
}

TEST(CrossoverReference, CarryOver) {
    VSB_NEED_FOLDER(reference_folder());
    struct Row {
        char set;
        double p;
    };
    for (const Row& want : {Row{'A', 0.377783}, Row{'B', 0.133185}, Row{'C', 0.358038},
                            Row{'D', 0.456596}, Row{'F', 0.983116}}) {
        SCOPED_TRACE(want.set);
        EXPECT_NEAR(run(want.set, Method::crossover_t, 0.95).carryover_p.value(), want.p, 5.1e-7);
    }
}

TEST(CrossoverReference, FasterAndItsSignTest) {
    VSB_NEED_FOLDER(reference_folder());
    struct Row {
        char set;
        std::size_t less, greater;
        double p;
    };
    for (const Row& want : {Row{'A', 13, 5, 0.0962524414063}, Row{'B', 12, 6, 0.237884521484},
                            Row{'F', 51, 49, 0.920410762613}}) {
        SCOPED_TRACE(want.set);
        const Comparison got = run(want.set, Method::crossover_t, 0.95);
        EXPECT_EQ(got.faster.k, want.greater);
        EXPECT_EQ(got.faster.n, want.less + want.greater);
        EXPECT_NEAR(got.faster.p.value(), want.p, 1e-12);
        EXPECT_NEAR(run(want.set, Method::sign, 0.95).p.value(), want.p, 1e-12);
    }
}

}  // namespace
}  // namespace vsb::stats
