#pragma once
// The AB/BA crossover t, the headline method. With d_i = ln B_i - ln A_i, m1 and m2 the means of d
// over the AB and the BA pairs, n1 and n2 their numbers, SS1 and SS2 the sums of squares about
// them:
//
//   theta  = (m1 + m2)/2                s^2 = (SS1 + SS2)/(n1 + n2 - 2)
//   period = (m1 - m2)/2                SE  = s/2 sqrt(1/n1 + 1/n2),  df = n1 + n2 - 2
//
// theta and period have the same SE. It equals the least-squares fit ln y ~ pair + period + state.
// All in natural logs, without units.
// Source: Hills and Armitage 1979, Brit. J. Clin. Pharmacol. 8:7; Senn, Cross-over Trials in
// Clinical Research, chapter 3.

#include <optional>
#include <span>

#include "stats/log_interval.h"
#include "stats/pair.h"

namespace vsb::stats {

struct CrossoverFit {
    double theta = 0;   // ln(B/A)
    double period = 0;  // ln(second run / first run)
    double se = 0;      // of either
    double df = 0;
    double sd = 0;  // s: of d within its order, what planning.h plans from

    LogInterval interval(double confidence) const;
    std::optional<double> p() const;         // two-sided, of theta = 0; absent when se is 0
    std::optional<double> period_p() const;  // likewise of period = 0
};

// d and order run in step. Throws std::invalid_argument with fewer than two pairs of an order.
CrossoverFit fit_crossover(std::span<const double> d, std::span<const Order> order);

// Two-sided p of the pooled t test that the pair totals ln A + ln B have the same mean in both
// orders. Reported and never used to choose a method (Freeman 1989, Statistics in Medicine 8:1421).
// Absent when the totals do not vary. Throws like fit_crossover.
std::optional<double> carryover_p(std::span<const double> totals, std::span<const Order> order);

}  // namespace vsb::stats
