#include "stats/diagnostics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "stats/distributions.h"
#include "stats/moments.h"
#include "stats/text.h"

namespace vsb::stats {

namespace {

constexpr double kPatternLevel = 0.01;
constexpr double kOrderLevel = 0.05;
constexpr double kOutlierScore = 3.5;
constexpr double kNormalConsistency = 0.6745;
constexpr std::size_t kExactRunsSide = 1000;
constexpr std::size_t kListedOutliers = 8;

double count(std::size_t n) {
    return static_cast<double>(n);
}

std::vector<double> residuals(const LogPairs& pairs) {
    std::vector<double> out = pairs.d;
    double mean_of[2];
    if (pairs.two_of_each()) {
        mean_of[0] = moments(of_order(pairs.d, pairs.order, Order::ab)).mean;
        mean_of[1] = moments(of_order(pairs.d, pairs.order, Order::ba)).mean;
    } else {
        mean_of[0] = mean_of[1] = moments(pairs.d).mean;
    }
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] -= mean_of[static_cast<int>(pairs.order[i])];
    return out;
}

double log_choose(std::size_t n, std::size_t k) {
    return std::lgamma(count(n) + 1) - std::lgamma(count(k) + 1) - std::lgamma(count(n - k) + 1);
}

// P(R = runs) for n1 and n2 values on the two sides.
double runs_probability(std::size_t runs, std::size_t n1, std::size_t n2) {
    const auto ways = [](std::size_t side, std::size_t parts) {
        if (parts == 0 || parts > side) return -std::numeric_limits<double>::infinity();
        return log_choose(side - 1, parts - 1);
    };
    const double all = log_choose(n1 + n2, n1);
    const std::size_t half = runs / 2;
    if (runs % 2 == 0) return 2 * std::exp(ways(n1, half) + ways(n2, half) - all);
    return std::exp(ways(n1, half) + ways(n2, half + 1) - all) +
           std::exp(ways(n1, half + 1) + ways(n2, half) - all);
}

double runs_p_normal(std::size_t runs, double n1, double n2) {
    const double n = n1 + n2;
    const double mean = 2 * n1 * n2 / n + 1;
    const double variance = (mean - 1) * (mean - 2) / (n - 1);
    const double distance = std::max(0.0, std::abs(count(runs) - mean) - 0.5);
    return std::min(1.0, normal_two_sided_p(distance / std::sqrt(variance)));
}

void add(std::vector<Warning>& out, std::optional<Warning> warning) {
    if (warning) out.push_back(*std::move(warning));
}

void warn_below(std::vector<Warning>& out, std::optional<double> p, double level, const char* code,
                const std::string& text) {
    if (p && *p < level) out.push_back({code, text + " (p " + short_number(*p) + ")"});
}

std::optional<Warning> warn_outliers(std::span<const double> residual) {
    const std::vector<std::size_t> found = outliers(residual);
    if (found.empty()) return std::nullopt;
    std::string places;
    for (std::size_t i = 0; i < std::min(found.size(), kListedOutliers); ++i) {
        places += (i == 0 ? "" : ", ") + std::to_string(found[i] + 1);
    }
    if (found.size() > kListedOutliers) places += ", ...";
    return Warning{"outliers",
                   std::to_string(found.size()) + " of " + std::to_string(residual.size()) +
                       " pairs lie far from the others (pair " + places + "); they are kept"};
}

// Real timings hardly ever agree to the last digit: many that do are a coarse clock or a copy.
std::optional<Warning> warn_repeats(std::span<const Pair> values) {
    std::vector<std::pair<double, double>> both;
    both.reserve(values.size());
    for (const Pair& pair : values)
        both.emplace_back(pair.a, pair.b);
    std::sort(both.begin(), both.end());
    const auto different = std::unique(both.begin(), both.end()) - both.begin();
    const std::size_t copies = values.size() - static_cast<std::size_t>(different);
    if (copies > 0) {
        return Warning{"repeated-values", std::to_string(copies) + " of " +
                                              std::to_string(values.size()) +
                                              " pairs repeat both values of an earlier pair"};
    }
    for (const bool of_a : {true, false}) {
        std::vector<double> sorted;
        for (const Pair& pair : values)
            sorted.push_back(of_a ? pair.a : pair.b);
        std::sort(sorted.begin(), sorted.end());
        const auto distinct = std::unique(sorted.begin(), sorted.end()) - sorted.begin();
        if (4 * static_cast<std::size_t>(distinct) < 3 * values.size()) {
            return Warning{"repeated-values",
                           "state " + std::string(of_a ? "A" : "B") + " has only " +
                               std::to_string(distinct) + " different values in " +
                               std::to_string(values.size()) + " runs (is the clock coarse?)"};
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<Warning> order_imbalance(std::size_t n_ab, std::size_t n_ba) {
    const double p = fair_binomial_two_sided_p(n_ab, n_ab + n_ba);
    if (p >= kOrderLevel) return std::nullopt;
    return Warning{"order-imbalance",
                   std::to_string(n_ab) + " pairs ran AB and " + std::to_string(n_ba) +
                       " BA: the orders are not balanced (p " + short_number(p) + ")"};
}

std::optional<double> trend_p(std::span<const double> x, std::size_t fitted) {
    if (x.size() < fitted + 2) return std::nullopt;
    const Moments m = moments(x);
    const double middle = (count(x.size()) - 1) / 2;
    CompensatedSum cross;
    for (std::size_t i = 0; i < x.size(); ++i)
        cross.add((count(i) - middle) * (x[i] - m.mean));
    const double n = count(x.size());
    const double spread = n * (n * n - 1) / 12;
    const double explained = cross.value() * cross.value() / spread;
    const double left = m.ss - explained;
    if (left <= 1e-14 * m.ss) return m.ss > 0 ? std::optional(0.0) : std::nullopt;
    const double df = n - count(fitted) - 1;
    return t_two_sided_p(std::sqrt(explained / (left / df)), df);
}

std::optional<double> ljung_box_p(std::span<const double> x, std::size_t lags) {
    if (lags == 0 || x.size() <= lags) return std::nullopt;
    const Moments m = moments(x);
    if (m.ss <= 0) return std::nullopt;
    CompensatedSum q;
    for (std::size_t k = 1; k <= lags; ++k) {
        CompensatedSum product;
        for (std::size_t i = k; i < x.size(); ++i)
            product.add((x[i] - m.mean) * (x[i - k] - m.mean));
        const double r = product.value() / m.ss;
        q.add(r * r / count(x.size() - k));
    }
    const double n = count(x.size());
    return chi_squared_upper_tail(n * (n + 2) * q.value(), count(lags));
}

std::optional<double> runs_test_p(std::span<const double> x) {
    const double centre = median(x);
    std::size_t above = 0;
    std::size_t below = 0;
    std::size_t runs = 0;
    int last = 0;
    for (const double value : x) {
        if (value == centre) continue;
        const int side = value > centre ? 1 : -1;
        ++(side > 0 ? above : below);
        if (side != last) ++runs;
        last = side;
    }
    if (above == 0 || below == 0) return std::nullopt;
    if (std::max(above, below) > kExactRunsSide)
        return runs_p_normal(runs, count(above), count(below));
    double at_most = 0;
    double at_least = 0;
    for (std::size_t r = 2; r <= 2 * std::min(above, below) + 1; ++r) {
        const double probability = runs_probability(r, above, below);
        if (r <= runs) at_most += probability;
        if (r >= runs) at_least += probability;
    }
    return std::min(1.0, 2 * std::min(at_most, at_least));
}

std::vector<std::size_t> outliers(std::span<const double> x) {
    std::vector<std::size_t> out;
    const double centre = median(x);
    const double mad = median_absolute_deviation(x);
    if (mad <= 0) return out;
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (kNormalConsistency * std::abs(x[i] - centre) / mad > kOutlierScore) out.push_back(i);
    }
    return out;
}

std::optional<Warning> lost_runs(std::size_t lost_a, std::size_t lost_b) {
    const std::size_t lost = lost_a + lost_b;
    if (lost == 0) return std::nullopt;
    std::string text = std::to_string(lost_a) + " runs of A and " + std::to_string(lost_b) +
                       " of B were lost or invalid; their pairs are left out";
    const double p = fair_binomial_two_sided_p(lost_a, lost);
    if (p < kOrderLevel) {
        text += std::string("; ") + (lost_a > lost_b ? "A" : "B") +
                " loses more than chance explains (p " + short_number(p) +
                "), so what is left may be a selection";
    }
    return Warning{"lost-runs", text};
}

std::vector<Warning> diagnose(const LogPairs& pairs, std::span<const Pair> values,
                              const std::optional<Period>& period,
                              std::optional<double> carryover) {
    std::vector<Warning> out;
    add(out, order_imbalance(pairs.n_ab, pairs.n_ba));
    if (period) {
        warn_below(
            out, period->p, kOrderLevel, "period-effect",
            "the second run of a pair differs from the first by " + short_percent(period->effect));
    }
    warn_below(out, carryover, kOrderLevel, "carry-over",
               "the first run of a pair seems to act on the second");
    add(out, warn_repeats(values));
    if (pairs.constant()) return out;
    const std::vector<double> residual = residuals(pairs);
    warn_below(out, trend_p(residual, pairs.two_of_each() ? 2 : 1), kPatternLevel,
               "run-order-trend", "the change drifts with the order of the pairs");
    warn_below(out, ljung_box_p(residual, std::min<std::size_t>(10, pairs.size() / 5)),
               kPatternLevel, "autocorrelation",
               "neighbouring pairs resemble each other (Ljung-Box)");
    warn_below(out, runs_test_p(residual), kPatternLevel, "runs-test",
               "pairs above and below the median do not alternate as chance would have it");
    add(out, warn_outliers(residual));
    return out;
}

}  // namespace vsb::stats
