#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "stats/comparison.h"
#include "stats/crossover.h"
#include "stats/diagnostics.h"
#include "stats/estimate.h"
#include "stats/hodges_lehmann.h"
#include "stats/log_pairs.h"
#include "stats/moments.h"
#include "stats/sign.h"
#include "stats/text.h"
#include "stats/verdict.h"

namespace vsb::stats {

namespace {

void check(const Options& options) {
    if (!(options.confidence > 0 && options.confidence < 1)) {
        throw std::invalid_argument("confidence: " + short_number(options.confidence) +
                                    " is not between 0 and 1 (use 0.95)");
    }
    if (!options.margin) return;
    if (!(*options.margin > 0) || !std::isfinite(*options.margin)) {
        throw std::invalid_argument("margin: " + short_number(*options.margin) +
                                    " is not a fraction above 0 (use 0.02 for 2%)");
    }
    if (options.confidence <= 0.5) {
        throw std::invalid_argument("margin: a confidence above 0.5 is needed, " +
                                    short_number(options.confidence) + " was asked for");
    }
}

// The least-squares geometric mean: the mean over the orders' means, so that B/A is exp(theta) of
// the crossover also where the orders are unequally many; the plain one without the crossover.
double geometric_mean(std::span<const Pair> values, double Pair::*value,
                      std::span<const double> logs, const LogPairs& pairs, bool least_squares) {
    double mean = 0;
    if (least_squares) {
        mean = (moments(of_order(logs, pairs.order, Order::ab)).mean +
                moments(of_order(logs, pairs.order, Order::ba)).mean) /
               2;
    } else {
        mean = moments(logs).mean;
    }
    // A mean lies among its values; this also keeps exp() of a rounded logarithm in range, and a
    // count that never changes exact.
    double least = values[0].*value;
    double greatest = least;
    for (const Pair& pair : values) {
        least = std::min(least, pair.*value);
        greatest = std::max(greatest, pair.*value);
    }
    return std::clamp(std::exp(mean), least, greatest);
}

std::optional<PointInterval> robust_column(const LogPairs& pairs, double confidence) {
    const HodgesLehmann found = hodges_lehmann(pairs.d, confidence);
    if (found.interval.confidence < confidence) return std::nullopt;
    return PointInterval{std::expm1(found.theta), std::expm1(found.interval.low),
                         std::expm1(found.interval.high)};
}

Faster count_faster(const LogPairs& pairs, Better better) {
    const SignTest signs = sign_test(pairs.d);
    const std::size_t k = better == Better::higher ? signs.positive : signs.negative;
    return {k, signs.positive + signs.negative, signs.zeros, signs.p};
}

std::vector<double> totals(const LogPairs& pairs) {
    std::vector<double> out(pairs.size());
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = pairs.a[i] + pairs.b[i];
    return out;
}

void warn_about_interval(Comparison& out, const LogInterval& interval) {
    if (interval.confidence < out.confidence - 1e-12) {
        out.warnings.push_back({"confidence-not-reached",
                                "with so few pairs the widest interval of " +
                                    std::string(method_name(out.method)) + " reaches " +
                                    short_number(100 * interval.confidence) + "%, not " +
                                    short_number(100 * out.confidence) + "%: no verdict is given"});
    }
    if (!std::isfinite(out.ci.low) || !std::isfinite(out.ci.high)) {
        out.warnings.push_back(
            {"unbounded-interval", "the interval has no upper bound that a number can hold"});
    }
}

}  // namespace

Comparison compare(std::span<const Pair> values, const Options& options) {
    check(options);
    const LogPairs pairs = log_pairs(values);
    const Estimate found = estimate(pairs, options);

    Comparison out;
    out.method = found.method;
    out.better = options.better;
    out.confidence = options.confidence;
    out.n_ab = pairs.n_ab;
    out.n_ba = pairs.n_ba;
    out.a = geometric_mean(values, &Pair::a, pairs.a, pairs, found.least_squares_means);
    out.b = geometric_mean(values, &Pair::b, pairs.b, pairs, found.least_squares_means);
    out.ratio = std::exp(found.theta);
    out.change = std::expm1(found.theta);
    const LogInterval wide = found.interval(options.confidence);
    out.ci = {std::expm1(wide.low), std::expm1(wide.high)};
    out.se_log = found.se;
    out.df = found.df;
    out.p = found.p;
    std::optional<LogInterval> narrow;
    if (options.margin) narrow = found.interval(2 * options.confidence - 1);
    out.verdict = verdict(wide, narrow, options.margin, options.better, options.confidence);
    out.faster = count_faster(pairs, options.better);
    out.hodges_lehmann = robust_column(pairs, options.confidence);
    out.draws = found.draws;
    if (found.draws > 0) out.seed = options.seed;
    out.warnings = found.warnings;
    if (found.zero_spread) {
        out.warnings.push_back(
            {"zero-variance",
             "every pair gives the same change: there is no spread to judge it by"});
    }
    warn_about_interval(out, wide);
    if (pairs.two_of_each()) {
        const CrossoverFit fit = fit_crossover(pairs.d, pairs.order);
        const bool spread = !pairs.constant();
        out.period = Period{std::expm1(fit.period), spread ? fit.period_p() : std::nullopt};
        out.carryover_p = carryover_p(totals(pairs), pairs.order);
    }
    const std::vector<Warning> doubts = diagnose(pairs, values, out.period, out.carryover_p);
    out.warnings.insert(out.warnings.end(), doubts.begin(), doubts.end());
    return out;
}

}  // namespace vsb::stats
