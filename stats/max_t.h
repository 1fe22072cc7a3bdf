#pragma once
// A whole table at once: flip the signs of the same pairs over all rows, so that the rows keep
// their dependence, and look at the greatest |t| of the table. Adjusted p step down from the
// greatest |t|; simultaneous intervals are single-step, from the flips of the residuals. Exact up
// to kExactSignFlip pairs; beyond, Monte Carlo with (1 + b)/(1 + B). Source: Westfall and Young,
// Resampling-Based Multiple Testing, 1993, 2.6 and 2.8. Also the table-wide sign test: the
// signs of all rows' pairs, against the same flips.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stats/log_interval.h"

namespace vsb::stats {

// rows[r][i]: ln(B/A) of row r in pair i; empty where the row has no such pair.
using TableRow = std::vector<std::optional<double>>;

struct MaxT {
    std::vector<std::optional<double>> p;  // adjusted; absent for a row without spread
    // Hold all rows' changes at once with `confidence`; without bounds where the arrangements are
    // too few for it (five pairs and fewer at 95%), a point for a row without spread.
    std::vector<LogInterval> intervals;
    double critical = 0;  // the |t| that the intervals reach
    bool exact = true;
    std::size_t draws = 0;  // 0 where exact
    std::uint64_t seed = 0;
};

// Throws std::invalid_argument: no rows, rows of different length, a row with fewer than two pairs,
// or a value that is not finite. draws = 0: 99,999, or fewer (not below 999) for huge tables.
// A row's statistic is |sum d| / sqrt(sum d^2), which orders flips as |t| does, and which compares
// rows of different n more fairly; `critical` is the |t| of the row with the most pairs.
MaxT max_t(std::span<const TableRow> rows, double confidence, std::uint64_t seed,
           std::size_t draws = 0);

struct TableSign {
    std::size_t positive = 0;  // rows with a mean above 0
    std::size_t rows = 0;      // rows with a mean other than 0
    // Two-sided: the sum of the signs of every row's every pair, under flips of the same pairs over
    // all rows. For one row it is the sign test.
    double p = 1;
    double p_independent = 1;  // two-sided binomial of the rows, as if no two shared a pair
    bool exact = true;
};

// Throws like max_t.
TableSign table_sign_test(std::span<const TableRow> rows, std::uint64_t seed,
                          std::size_t draws = 0);

}  // namespace vsb::stats
