#include "stats/max_t.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

#include "stats/distributions.h"
#include "stats/draws.h"
#include "stats/moments.h"
#include "stats/permutation.h"

namespace vsb::stats {

namespace {

// The table pair by pair, so that a flip of one pair walks along memory; 0 where a row lacks it.
struct Columns {
    std::size_t pairs = 0;
    std::size_t rows = 0;
    std::vector<double> at;        // [pair * rows + row]
    std::vector<Moments> moments;  // of each row
    std::vector<double> squares;   // sum of squares of each row, about 0

    const double* column(std::size_t pair) const { return at.data() + pair * rows; }
};

Columns columns(std::span<const TableRow> rows) {
    if (rows.empty() || rows[0].empty()) throw std::invalid_argument("maxT: the table is empty");
    Columns out;
    out.pairs = rows[0].size();
    out.rows = rows.size();
    out.at.assign(out.pairs * out.rows, 0.0);
    for (std::size_t r = 0; r < rows.size(); ++r) {
        const std::string name = "maxT: row " + std::to_string(r + 1);
        if (rows[r].size() != out.pairs) {
            throw std::invalid_argument(name + " has " + std::to_string(rows[r].size()) +
                                        " places, the first row " + std::to_string(out.pairs));
        }
        std::vector<double> present;
        for (std::size_t i = 0; i < out.pairs; ++i) {
            if (!rows[r][i]) continue;
            if (!std::isfinite(*rows[r][i])) {
                throw std::invalid_argument(name + ", pair " + std::to_string(i + 1) +
                                            ": not a finite number");
            }
            present.push_back(*rows[r][i]);
            out.at[i * out.rows + r] = *rows[r][i];
        }
        if (present.size() < 2) throw std::invalid_argument(name + " has fewer than two pairs");
        out.moments.push_back(moments(present));
        CompensatedSum squares;
        for (const double d : present)
            squares.add(d * d);
        out.squares.push_back(squares.value());
    }
    return out;
}

// The same table less each row's mean.
Columns residuals(Columns table, std::span<const TableRow> rows) {
    for (std::size_t r = 0; r < table.rows; ++r) {
        for (std::size_t i = 0; i < table.pairs; ++i) {
            if (rows[r][i]) table.at[i * table.rows + r] -= table.moments[r].mean;
        }
        table.squares[r] = table.moments[r].ss;
    }
    return table;
}

bool goes_through_all(const Columns& table) {
    return table.pairs <= kExactSignFlip;
}

std::size_t draws_for(const Columns& table, std::size_t asked) {
    if (goes_through_all(table)) return 0;
    return asked > 0 ? asked : affordable_draws(kPermutationDraws, table.pairs * table.rows);
}

// visit(sums): the rows' sums under one arrangement of signs. Exact: all arrangements but for the
// exchange of all signs, which no two-sided statistic sees, in Gray code order (one flip a step).
template <typename Visit>
void each_flip(const Columns& table, std::size_t draws, std::uint64_t seed, const Visit& visit) {
    std::vector<double> sums(table.rows, 0.0);
    const auto add = [&](std::size_t pair, double factor) {
        const double* column = table.column(pair);
        for (std::size_t r = 0; r < table.rows; ++r)
            sums[r] += factor * column[r];
    };
    if (draws == 0) {
        for (std::size_t i = 0; i < table.pairs; ++i)
            add(i, 1);
        visit(sums);
        std::uint64_t minus = 0;
        const std::uint64_t arrangements = std::uint64_t{1} << (table.pairs - 1);
        for (std::uint64_t step = 1; step < arrangements; ++step) {
            const auto pair = static_cast<std::size_t>(std::countr_zero(step));
            minus ^= std::uint64_t{1} << pair;
            add(pair, (minus >> pair & 1) != 0 ? -2 : 2);
            visit(sums);
        }
        return;
    }
    Draws random(seed);
    for (std::size_t draw = 0; draw < draws; ++draw) {
        std::fill(sums.begin(), sums.end(), 0.0);
        std::uint64_t word = 0;
        for (std::size_t i = 0; i < table.pairs; ++i) {
            if (i % 64 == 0) word = random.word();
            add(i, (word >> (i % 64) & 1) != 0 ? -1 : 1);
        }
        visit(sums);
    }
}

double share(std::size_t extreme, std::size_t draws, std::size_t pairs) {
    if (draws == 0)
        return static_cast<double>(extreme) / std::pow(2.0, static_cast<double>(pairs) - 1);
    return static_cast<double>(1 + extreme) / static_cast<double>(1 + draws);
}

// Equal within rounding counts as equal.
constexpr double kSlack = 1 - 1e-11;

std::vector<std::optional<double>> step_down_p(const Columns& table, std::size_t draws,
                                               std::uint64_t seed) {
    std::vector<double> weight(table.rows, 0.0);
    std::vector<double> observed(table.rows, 0.0);
    for (std::size_t r = 0; r < table.rows; ++r) {
        if (table.squares[r] <= 0 || table.moments[r].ss <= 0) continue;
        weight[r] = 1 / table.squares[r];
        const double sum = table.moments[r].mean * static_cast<double>(table.moments[r].n);
        observed[r] = sum * sum * weight[r];
    }
    std::vector<std::size_t> ascending(table.rows);
    std::iota(ascending.begin(), ascending.end(), std::size_t{0});
    std::stable_sort(ascending.begin(), ascending.end(),
                     [&](std::size_t i, std::size_t j) { return observed[i] < observed[j]; });
    std::vector<std::size_t> extreme(table.rows, 0);
    std::vector<double> statistic(table.rows);
    each_flip(table, draws, seed, [&](const std::vector<double>& sums) {
        for (std::size_t r = 0; r < table.rows; ++r)
            statistic[r] = sums[r] * sums[r] * weight[r];
        double greatest = 0;  // of this row and of those with a smaller observed statistic
        for (const std::size_t r : ascending) {
            greatest = std::max(greatest, statistic[r]);
            if (greatest >= observed[r] * kSlack) ++extreme[r];
        }
    });
    std::vector<std::optional<double>> p(table.rows);
    double so_far = 0;
    for (std::size_t i = table.rows; i-- > 0;) {
        const std::size_t r = ascending[i];
        if (weight[r] <= 0) continue;
        so_far = std::max(so_far, share(extreme[r], draws, table.pairs));
        p[r] = so_far;
    }
    return p;
}

// The (1 - alpha) quantile of the greatest squared statistic under flips of the residuals.
double critical_square(const Columns& table, double confidence, std::size_t draws,
                       std::uint64_t seed) {
    std::vector<double> weight(table.rows, 0.0);
    for (std::size_t r = 0; r < table.rows; ++r) {
        if (table.squares[r] > 0) weight[r] = 1 / table.squares[r];
    }
    std::vector<double> greatest;
    each_flip(table, draws, seed, [&](const std::vector<double>& sums) {
        double most = 0;
        for (std::size_t r = 0; r < table.rows; ++r) {
            most = std::max(most, sums[r] * sums[r] * weight[r]);
        }
        greatest.push_back(most);
    });
    const double count = static_cast<double>(greatest.size() + (draws == 0 ? 0 : 1));
    // So few arrangements have no tail of this size, and their greatest |t| is no bound.
    if ((1 - confidence) * count < 1 - 1e-9) return std::numeric_limits<double>::infinity();
    const double place = std::ceil(confidence * count - 1e-9);
    const auto index = static_cast<std::size_t>(
        std::clamp(place - 1, 0.0, static_cast<double>(greatest.size() - 1)));
    const auto at = greatest.begin() + static_cast<std::ptrdiff_t>(index);
    std::nth_element(greatest.begin(), at, greatest.end());
    return *at;
}

// |t| of a row of n values whose |sum| / sqrt(sum of squares) has this square.
double t_of(double square, std::size_t n) {
    const double count = static_cast<double>(n);
    const double u2 = std::min(square / count, 1.0);
    if (u2 >= 1) return std::numeric_limits<double>::infinity();
    return std::sqrt((count - 1) * u2 / (1 - u2));
}

}  // namespace

MaxT max_t(std::span<const TableRow> rows, double confidence, std::uint64_t seed,
           std::size_t draws) {
    if (!(confidence > 0 && confidence < 1)) {
        throw std::invalid_argument("maxT: a confidence between 0 and 1 is needed");
    }
    const Columns table = columns(rows);
    MaxT out;
    out.draws = draws_for(table, draws);
    out.exact = out.draws == 0;
    out.seed = seed;
    out.p = step_down_p(table, out.draws, seed);
    const double square = critical_square(residuals(table, rows), confidence, out.draws, seed);
    for (const Moments& m : table.moments) {
        const double critical = t_of(square, m.n);
        out.critical = std::max(out.critical, critical);
        const double reach = m.ss > 0 ? critical * m.sd() / std::sqrt(static_cast<double>(m.n)) : 0;
        out.intervals.push_back({m.mean - reach, m.mean + reach, confidence});
    }
    return out;
}

TableSign table_sign_test(std::span<const TableRow> rows, std::uint64_t seed, std::size_t draws) {
    const Columns table = columns(rows);
    TableSign out;
    for (std::size_t r = 0; r < table.rows; ++r) {
        const double sum = table.moments[r].mean * static_cast<double>(table.moments[r].n);
        const double rounding =
            1e-12 * std::sqrt(table.squares[r] * static_cast<double>(table.pairs));
        out.positive += sum > rounding ? 1 : 0;
        out.rows += std::abs(sum) > rounding ? 1 : 0;
    }
    // Rows that rise and fall together all change sides in a flip of their means' signs, and their
    // number says nothing; the pairs' signs, summed over the table, do. Whole numbers: no rounding.
    std::vector<TableRow> signs(rows.begin(), rows.end());
    for (TableRow& row : signs) {
        for (auto& value : row) {
            if (value) value = *value > 0 ? 1 : *value < 0 ? -1 : 0;
        }
    }
    const Columns votes = columns(signs);
    const auto lead = [](const std::vector<double>& sums) {
        return std::abs(std::accumulate(sums.begin(), sums.end(), 0.0));
    };
    std::vector<double> sums(votes.rows);
    for (std::size_t r = 0; r < votes.rows; ++r) {
        sums[r] = std::round(votes.moments[r].mean * static_cast<double>(votes.moments[r].n));
    }
    const double observed = lead(sums);
    const std::size_t used = draws_for(votes, draws);
    out.exact = used == 0;
    std::size_t extreme = 0;
    each_flip(votes, used, seed, [&](const std::vector<double>& flipped) {
        if (lead(flipped) >= observed - 0.5) ++extreme;
    });
    out.p = share(extreme, used, votes.pairs);
    out.p_independent = fair_binomial_two_sided_p(out.positive, out.rows);
    return out;
}

}  // namespace vsb::stats
