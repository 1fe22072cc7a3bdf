#pragma once
// What may make a comparison doubtful, as warnings in the result; nothing is ever dropped or mended
// because of one. Codes: order-imbalance, run-order-trend, autocorrelation, runs-test, outliers,
// repeated-values, period-effect, carry-over, lost-runs.
// Trend, autocorrelation and runs test look at d less the mean of its order, so that a period
// effect in a strictly alternating plan is not taken for a pattern in time. They warn at p < 0.01:
// a table has many rows, and each row is asked several times. Period and carry-over warn at p <
// 0.05.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "stats/comparison.h"
#include "stats/log_pairs.h"

namespace vsb::stats {

// Exact two-sided binomial test of n_ab against n_ba; p below 0.05 warns.
std::optional<Warning> order_imbalance(std::size_t n_ab, std::size_t n_ba);

// Two-sided p of the slope of x against 0, 1, 2, ...; fitted counts the parameters that were taken
// out of x before (1 for a mean, 2 for a mean of each order). Absent where no spread or no degree
// of freedom is left.
std::optional<double> trend_p(std::span<const double> x, std::size_t fitted);

// Ljung and Box 1978, Biometrika 65:297: Q = n (n + 2) sum_k r_k^2 / (n - k) over `lags` lags, and
// P(chi2_lags >= Q) computed as an upper tail. Absent without spread or with n <= lags.
std::optional<double> ljung_box_p(std::span<const double> x, std::size_t lags);

// Wald and Wolfowitz 1940: two-sided p of the number of runs about the median, exact where both
// sides have at most 1000 values, else by the normal limit. Values equal to the median are left
// out. Absent when one side is empty.
std::optional<double> runs_test_p(std::span<const double> x);

// Places (from 0) of values with 0.6745 |x - median| / MAD above 3.5 (Iglewicz and Hoaglin 1993).
// None where the MAD is 0.
std::vector<std::size_t> outliers(std::span<const double> x);

// Which state lost runs, and whether that is more than a fair coin's doing.
std::optional<Warning> lost_runs(std::size_t lost_a, std::size_t lost_b);

// Every warning about the data themselves, in a fixed order.
std::vector<Warning> diagnose(const LogPairs& pairs, std::span<const Pair> values,
                              const std::optional<Period>& period, std::optional<double> carryover);

}  // namespace vsb::stats
