#include "stats/night_gate.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "stats/adjust.h"
#include "stats/distributions.h"
#include "stats/moments.h"
#include "stats/segments.h"

namespace vsb::stats {
namespace {

constexpr std::size_t kLeastBefore = 4;  // nights that say where the level is
constexpr double kMostPermutations = 999'999;

void check(const NightGateOptions& options) {
    const auto demand = [](bool holds, const char* why) {
        if (!holds) throw std::invalid_argument(std::string("nightly gate: ") + why);
    };
    demand(options.level > 0 && options.level < 0.5, "the level must be above 0 and below 0.5");
    demand(options.margin >= 0 && options.margin < 1,
           "the margin must be at least 0 and below 100%");
    demand(options.power > 0 && options.power < 1, "the power must be between 0 and 1");
    demand(options.min_segment >= 2, "a level has at least 2 nights");
    demand(options.look_back >= options.min_segment,
           "looking back fewer nights than a level has, the gate could never fail");
    demand(options.window >= 2 * options.min_segment, "the window must hold two levels");
}

// Of a stretch of nights: weighted mean, its variance and the excess of the scatter about it.
struct Level {
    double mean = 0;
    double variance = 0;  // of the mean, by the nights' own SEs
    double excess = 1;    // of squares over what the SEs say, at least 1
    double night_sd = 0;
};

Level level_of(std::span<const Night> nights) {
    CompensatedSum weight;
    CompensatedSum moment;
    for (const Night& night : nights) {
        const double w = 1 / (night.se * night.se);
        weight.add(w);
        moment.add(w * night.log_ratio);
    }
    Level level;
    level.mean = moment.value() / weight.value();
    level.variance = 1 / weight.value();
    CompensatedSum squares;
    for (const Night& night : nights) {
        const double z = (night.log_ratio - level.mean) / night.se;
        squares.add(z * z);
    }
    const auto n = static_cast<double>(nights.size());
    if (nights.size() > 1) level.excess = std::max(1.0, squares.value() / (n - 1));
    level.night_sd = std::sqrt(level.excess * n / weight.value());
    return level;
}

// Worse is below 0, whichever direction is better.
double signed_by(Better better, double log_change) {
    return better == Better::higher ? log_change : -log_change;
}

// What is worse by the margin: fewer Gbit/s by 1%, or more microseconds by 1%.
double log_margin(Better better, double margin) {
    return better == Better::higher ? -std::log1p(-margin) : std::log1p(margin);
}

Interval interval_of(double log_change, double half) {
    return {std::expm1(log_change - half), std::expm1(log_change + half)};
}

std::optional<Worse> find_step(const NightSeries& series, const std::vector<ChangePoint>& changes,
                               const NightGateOptions& options) {
    std::optional<Worse> best;
    const std::size_t n = series.nights.size();
    if (changes.empty()) return best;
    const double excess = excess_scatter(series.nights);
    const Level now = level_of(series.nights.subspan(changes.back().index));
    std::size_t begin = 0;
    for (std::size_t i = 0; i < changes.size(); ++i) {
        const ChangePoint& change = changes[i];
        const Level before = level_of(series.nights.subspan(begin, change.index - begin));
        begin = change.index;
        if (change.index + options.look_back < n) continue;
        const double own = signed_by(series.better, change.after - change.before);
        const double whole = now.mean - before.mean;
        if (own >= 0 ||
            signed_by(series.better, whole) >= -log_margin(series.better, options.margin)) {
            continue;
        }
        if (best && change.p.value_or(1) >= best->p) continue;
        const double half =
            normal_quantile(0.975) * std::sqrt(excess * (before.variance + now.variance));
        best = Worse{
            change.index, std::expm1(whole), interval_of(whole, half), change.p.value_or(1), 1,
            false};
    }
    return best;
}

std::optional<Worse> find_drop(const NightSeries& series, std::span<const Night> before,
                               const NightGateOptions& options) {
    const Night& tonight = series.nights.back();
    const Level level = level_of(before);
    const double df = static_cast<double>(before.size()) - 1;
    const double error = std::sqrt(level.excess * (tonight.se * tonight.se + level.variance));
    const double change = tonight.log_ratio - level.mean;
    const double beyond =
        -signed_by(series.better, change) - log_margin(series.better, options.margin);
    if (!(beyond > 0)) return std::nullopt;
    const double half = t_quantile(0.975, df) * error;
    return Worse{series.nights.size() - 1,
                 std::expm1(change),
                 interval_of(change, half),
                 t_upper_tail(beyond / error, df),
                 1,
                 false};
}

}  // namespace

std::vector<NightVerdict> judge_nights(std::span<const NightSeries> series,
                                       const NightGateOptions& options) {
    check(options);
    std::vector<NightVerdict> verdicts(series.size());
    if (series.empty()) return verdicts;
    const double tests = 2 * static_cast<double>(series.size());
    // The least p of all must be able to pass Holm's first hurdle, and with one permutation to
    // spare.
    const double wanted = std::ceil(2 * tests / options.level);
    if (tests / options.level > kMostPermutations + 1) {
        throw std::invalid_argument(
            "nightly gate: so low a level cannot be reached with so many workloads (raise it)");
    }
    EDivisiveOptions divide;
    divide.min_segment = options.min_segment;
    divide.alpha = options.level;
    divide.permutations = static_cast<std::size_t>(std::min(kMostPermutations, wanted));
    divide.seed = options.seed;

    std::vector<double> p(2 * series.size(), 1.0);
    for (std::size_t i = 0; i < series.size(); ++i) {
        const NightSeries& one = series[i];
        NightVerdict& verdict = verdicts[i];
        const std::size_t n = one.nights.size();
        check_nights(one.nights);
        if (n == 0) continue;
        const std::size_t first = n > options.window ? n - options.window : 0;
        const NightSeries seen{one.nights.subspan(first), one.better};
        verdict.step_armed = seen.nights.size() >= 2 * options.min_segment;
        verdict.changes = e_divisive(seen.nights, divide);
        verdict.step = find_step(seen, verdict.changes, options);
        const std::size_t since = verdict.changes.empty() ? 0 : verdict.changes.back().index;
        const auto before = seen.nights.subspan(since, seen.nights.size() - 1 - since);
        verdict.drop_armed = before.size() >= kLeastBefore;
        if (verdict.drop_armed) verdict.drop = find_drop(seen, before, options);
        if (seen.nights.size() - since >= kLeastBefore) {
            const auto present = seen.nights.subspan(since);
            verdict.night_sd = level_of(present).night_sd;
            if (options.margin > 0) {
                verdict.nights_needed = nights_to_find(
                    log_margin(one.better, options.margin), verdict.night_sd,
                    std::max(present.size(), options.look_back), options.level / tests,
                    options.power, options.min_segment, options.look_back);
            }
        }
        for (ChangePoint& change : verdict.changes)
            change.index += first;
        if (verdict.step) verdict.step->index += first;
        if (verdict.drop) verdict.drop->index += first;
        if (verdict.step) p[2 * i] = verdict.step->p;
        if (verdict.drop) p[2 * i + 1] = verdict.drop->p;
    }
    const std::vector<double> adjusted = holm(p);
    for (std::size_t i = 0; i < series.size(); ++i) {
        const auto decide = [&](std::optional<Worse>& worse, double value) {
            if (!worse) return;
            worse->p_adjusted = value;
            worse->alarm = value <= options.level;
        };
        decide(verdicts[i].step, adjusted[2 * i]);
        decide(verdicts[i].drop, adjusted[2 * i + 1]);
    }
    return verdicts;
}

namespace {

double density(double z) {
    return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
}

// Chance that the greatest |Z| of all splits of n nights exceeds b without any step.
double greatest_exceeds(double b, std::size_t n, std::size_t min_segment) {
    double sum = 0;
    const auto whole = static_cast<double>(n);
    for (std::size_t at = min_segment; at + min_segment <= n; ++at) {
        const double share = static_cast<double>(at) / whole;
        const double spread = share * (1 - share);
        sum += std::exp(-0.583 * b / std::sqrt(whole * spread)) / (whole * spread);
    }
    return normal_two_sided_p(b) + b * density(b) * sum;
}

double threshold(double level, std::size_t n, std::size_t min_segment) {
    double low = 0;
    double high = 38;
    for (int i = 0; i < 40; ++i) {
        const double middle = (low + high) / 2;
        (greatest_exceeds(middle, n, min_segment) > level ? low : high) = middle;
    }
    return high;
}

}  // namespace

std::optional<std::size_t> nights_to_find(double step, double night_sd, std::size_t before,
                                          double level, double power, std::size_t min_segment,
                                          std::size_t most) {
    if (!(std::abs(step) > 0) || !(night_sd > 0) || !std::isfinite(step / night_sd) ||
        before < min_segment) {
        return std::nullopt;
    }
    // The energy distance sees a shift less sharply than a t does, and weights 1/SE^2 of some ten
    // pairs are uncertain themselves: as if nights scattered a tenth more (simulated,
    // night_gate_test.cpp).
    constexpr double kLoss = 1.1;
    const auto is_found = [&](std::size_t after) {
        const std::size_t n = before + after;
        const double tail = normal_two_sided_p(threshold(level, n, min_segment)) / 2;
        if (!(tail > 1e-15)) return false;
        const double df = static_cast<double>(n) - 2;
        const double t = -t_quantile(tail, df);
        const double shift =
            std::abs(step) / (kLoss * night_sd) /
            std::sqrt(1 / static_cast<double>(before) + 1 / static_cast<double>(after));
        // Beyond what the noncentral t is good for there is no doubt left.
        return shift > 37 || 1 - noncentral_t_cdf(t, df, shift) >= power;
    };
    if (most < min_segment || !is_found(most)) return std::nullopt;
    std::size_t low = min_segment;
    std::size_t high = most;
    while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        if (is_found(middle)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return high;
}

}  // namespace vsb::stats
