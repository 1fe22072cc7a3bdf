#include "stats/planning.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "stats/confidence_sequence.h"
#include "stats/distributions.h"
#include "stats/reference_data.h"
#include "stats/tost_power.h"

namespace vsb::stats {
namespace {

TEST(Planning, TwoPercentScatterOnePercentHalfWidth) {
    EXPECT_EQ(pairs_for_half_width(0.02, 0.01), 20U);
    EXPECT_EQ(pairs_for_half_width_assured(0.02, 0.01), 24U);
}

TEST(Planning, TheAnswerIsTheLeast) {
    for (const double sd : {0.001, 0.01, 0.03, 0.3}) {
        for (const double width : {0.005, 0.01, 0.05}) {
            const std::size_t n = pairs_for_half_width(sd, width);
            EXPECT_EQ(n % 2, 0U);
            EXPECT_LE(half_width_of(n, sd), width);
            if (n > 4) {
                EXPECT_GT(half_width_of(n - 2, sd), width);
            }
            EXPECT_GE(pairs_for_half_width_assured(sd, width), n);
        }
    }
}

// F_0.8(df, 10^9) is chi2_0.8(df)/df: an sd that is as good as known.
TEST(Planning, AnEstimatedSdAsksForMore) {
    EXPECT_EQ(pairs_for_half_width_estimated(0.02, 1e9, 0.01), 24U);
    const std::size_t n = pairs_for_half_width_estimated(0.02, 14, 0.01);
    EXPECT_GT(n, 24U);
    const auto assured = [](std::size_t pairs) {
        return half_width_of(pairs,
                             0.02 * std::sqrt(f_quantile(0.8, static_cast<double>(pairs) - 2, 14)));
    };
    EXPECT_LE(assured(n), 0.01);
    EXPECT_GT(assured(n - 2), 0.01);
}

// F_0.95(5, 10) = 3.3258 of any table.
TEST(Planning, FQuantileIsTheTables) {
    EXPECT_NEAR(f_quantile(0.95, 5, 10), 3.3258, 5e-5);
    EXPECT_NEAR(f_quantile(0.8, 4, 18), 1.67274, 5e-6);
}

TEST(Planning, APilotThatIsNarrowEnoughIsAllThereIs) {
    EXPECT_EQ(pairs_after_pilot(0.01, 20, 0.01), 20U);
    EXPECT_EQ(pairs_after_pilot(0.0211, 20, 0.01), 20U);  // up to ln(1.01) sqrt(20)/t_18 = 0.02118
    EXPECT_GT(pairs_after_pilot(0.0212, 20, 0.01), 20U);
}

// The pooled variance of the whole run, written out.
TEST(Planning, AfterAPilotTheAnswerIsTheLeast) {
    const double sd = 0.03;
    const std::size_t n = pairs_after_pilot(sd, 20, 0.01);
    const auto width = [&](std::size_t pairs) {
        const double more = static_cast<double>(pairs) - 20;
        const double variance =
            (18 * sd * sd + more * sd * sd * f_quantile(0.8, more, 18)) / (18 + more);
        return half_width_of(pairs, std::sqrt(variance));
    };
    EXPECT_LE(width(n), 0.01);
    EXPECT_GT(width(n - 2), 0.01);
    EXPECT_GT(n, pairs_for_half_width(sd, 0.01));
    EXPECT_GT(pairs_after_pilot(sd, 20, 0.01, 0.95, 0.95), n);
    EXPECT_GT(pairs_after_pilot(sd, 20, 0.01, 0.99), n);
    // After a great pilot the scatter is known, and only the new pairs' own is to come: chi-square.
    const double known = 0.2274;
    std::size_t least = 2002;
    const auto wide = [&](std::size_t pairs) {
        const double more = static_cast<double>(pairs) - 2000;
        const double share =
            (1998 + chi_squared_quantile(0.8, more)) / (static_cast<double>(pairs) - 2);
        return half_width_of(pairs, known * std::sqrt(share), 0.95) > 0.01;
    };
    while (wide(least))
        least += 2;
    EXPECT_EQ(pairs_after_pilot(known, 2000, 0.01), least);
    EXPECT_GT(least, 2002U);
    EXPECT_THROW(pairs_after_pilot(sd, 3, 0.01), std::invalid_argument);
    EXPECT_THROW(pairs_after_pilot(0, 20, 0.01), std::invalid_argument);
    EXPECT_THROW(pairs_after_pilot(10, 20, 1e-6), std::invalid_argument);
}

// P(|Z + ncp| > t s) with s^2 ~ chi2(df)/df, by the trapezoid rule over s.
double integrated_power(std::size_t n, double noncentrality, double confidence) {
    const double df = static_cast<double>(n) - 2;
    const double t = t_quantile((1 + confidence) / 2, df);
    const double log_constant = std::log(2.0) + df / 2 * std::log(df / 2) - std::lgamma(df / 2);
    const int steps = 20'000;
    const double top = 1 + 12 / std::sqrt(2 * df);
    double power = 0;
    for (int i = 1; i <= steps; ++i) {
        const double s = top * i / steps;
        const double density = std::exp(log_constant + (df - 1) * std::log(s) - df * s * s / 2);
        power += density *
                 (normal_cdf(noncentrality - t * s) + normal_cdf(-noncentrality - t * s)) * top /
                 steps;
    }
    return power;
}

TEST(Planning, PowerEqualsADirectIntegral) {
    for (const std::size_t n : {4U, 6U, 16U, 100U}) {
        for (const double noncentrality : {0.1, 1.0, 3.0, 10.0, 60.0}) {
            const double sd = 0.02;
            const double change =
                std::expm1(noncentrality * sd / std::sqrt(static_cast<double>(n)));
            EXPECT_NEAR(power_of(n, change, sd), integrated_power(n, noncentrality, 0.95), 1e-6)
                << n << " " << noncentrality;
            // A decrease of the same size on the log scale is found as often.
            EXPECT_NEAR(power_of(n, -change / (1 + change), sd), power_of(n, change, sd), 1e-12);
        }
    }
}

TEST(Planning, WithoutAChangePowerIsAlpha) {
    EXPECT_NEAR(power_of(16, 0, 0.02), 0.05, 1e-12);
    EXPECT_NEAR(power_of(16, 0, 0.02, 0.90), 0.10, 1e-12);
}

TEST(Planning, PairsForPowerAndDetectableChangeAreInverse) {
    const std::size_t n = pairs_for_power(0.015, 0.02);
    EXPECT_GE(power_of(n, 0.015, 0.02), 0.80);
    EXPECT_LT(power_of(n - 2, 0.015, 0.02), 0.80);
    const double least = minimum_detectable_change(16, 0.02, 0.9);
    EXPECT_NEAR(power_of(16, least, 0.02), 0.9, 1e-9);
}

TEST(Planning, RefusesWhatCannotBe) {
    EXPECT_THROW(pairs_for_half_width(0, 0.01), std::invalid_argument);
    EXPECT_THROW(pairs_for_half_width(0.02, -0.01), std::invalid_argument);
    EXPECT_THROW(pairs_for_half_width(0.02, 0.01, 1), std::invalid_argument);
    EXPECT_THROW(pairs_for_half_width(std::nan(""), 0.01), std::invalid_argument);
    EXPECT_THROW(pairs_for_half_width(10, 1e-6), std::invalid_argument);  // 10^14 pairs
    EXPECT_THROW(power_of(7, 0.01, 0.02), std::invalid_argument);
    EXPECT_THROW(power_of(2, 0.01, 0.02), std::invalid_argument);
    EXPECT_THROW(power_of(8, -1, 0.02), std::invalid_argument);
    EXPECT_THROW(pairs_for_power(0, 0.02), std::invalid_argument);
    EXPECT_THROW(minimum_detectable_change(8, 0.02, 0), std::invalid_argument);
}

TEST(TostPower, RefusesWhatCannotBe) {
    EXPECT_THROW(tost_power({.sd = 0, .low = 0.8, .high = 1.25}, 12), std::invalid_argument);
    EXPECT_THROW(tost_power({.sd = 0.1, .low = 1.2, .high = 1.1}, 12), std::invalid_argument);
    EXPECT_THROW(tost_power({.sd = 0.1, .low = 0.8, .high = 1.25}, 11), std::invalid_argument);
    EXPECT_THROW(pairs_for_tost({.sd = 0.1, .ratio = 1.25, .low = 0.8, .high = 1.25}, 0.8),
                 std::invalid_argument);
}

TEST(TostPower, TooFewPairsHaveHardlyAny) {
    const double power = tost_power({.sd = 1.0, .low = 0.99, .high = 1.01}, 4);
    EXPECT_GT(power, 0);
    EXPECT_LT(power, 1e-6);
}

TEST(TostPowerReference, ThreePowers) {
    struct Row {
        double cv;
        std::size_t n;
        double power;
    };
    for (const Row& want : {Row{0.25, 24, 0.739115481199}, Row{0.30, 40, 0.815845280273},
                            Row{0.20, 20, 0.834680190857}}) {
        const TostPlan plan{.sd = sd_of_cv(want.cv), .ratio = 0.95, .low = 0.8, .high = 1.25};
        EXPECT_NEAR(tost_power(plan, want.n), want.power, 1e-8) << want.cv;
    }
}

// Hauschke, Steinijans, Pigeot 2007, tables 5.1 to 5.3.
std::size_t check_table(const char* file, double low, double high) {
    std::size_t cells = 0;
    for (const auto& row : testing::read_csv(testing::reference_folder() / "power" / file)) {
        const double power = std::stod(row.at("power"));
        const double cv = std::stod(row.at("CV"));
        for (const auto& [column, cell] : row) {
            if (column[0] != 'R' || cell == "NA") continue;
            const TostPlan plan{
                .sd = sd_of_cv(cv), .ratio = std::stod(column.substr(1)), .low = low, .high = high};
            EXPECT_EQ(pairs_for_tost(plan, power), std::stoul(cell))
                << file << " power " << power << " CV " << cv << " ratio " << column;
            ++cells;
        }
    }
    return cells;
}

TEST(TostPowerReference, SampleSizeTables) {
    VSB_NEED_FOLDER(testing::reference_folder());
    EXPECT_EQ(check_table("powertost_ct5.1.csv", 0.80, 1.25), 208U);
    EXPECT_EQ(check_table("powertost_ct5.2.csv", 0.75, 1 / 0.75), 260U);
    EXPECT_EQ(check_table("powertost_ct5.3.csv", 0.90, 1 / 0.90), 126U);
}

// n = 9, c = 1, alpha = 0.05: r = 0.1, K = (0.05 sqrt(0.1))^(-2/9) = 2.5136...
TEST(ConfidenceSequence, ByHand) {
    const std::vector<double> d{1, 2, 3, 4, 5, 6, 7, 8, 9};
    const double k = std::pow(0.05 * std::sqrt(0.1), -2.0 / 9);
    const double reach = std::sqrt(7.5) / 3 * std::sqrt(8 * (k - 1) / (1 - 0.1 * k));
    const LogInterval found = confidence_sequence(d, 0.95);
    EXPECT_NEAR(found.low, 5 - reach, 1e-12);
    EXPECT_NEAR(found.high, 5 + reach, 1e-12);
    EXPECT_GT(reach, t_quantile(0.975, 8) * std::sqrt(7.5) / 3);  // the price of looking
}

TEST(ConfidenceSequence, SaysNothingWhileItCannot) {
    EXPECT_TRUE(std::isinf(confidence_sequence(std::vector{1.0}, 0.95).high));
    EXPECT_TRUE(std::isinf(confidence_sequence(std::vector{1.0, 2.0}, 0.95).low));  // r K = 6.3
    EXPECT_TRUE(std::isfinite(
        confidence_sequence(std::vector{1.0, 2.0, 1.5, 1.2, 1.7, 1.1, 1.9}, 0.95).low));
    EXPECT_THROW(confidence_sequence({}, 0.95), std::invalid_argument);
    EXPECT_THROW(confidence_sequence(std::vector{1.0}, 1), std::invalid_argument);
    EXPECT_THROW(confidence_sequence(std::vector{1.0}, 0.95, 0), std::invalid_argument);
}

}  // namespace
}  // namespace vsb::stats
