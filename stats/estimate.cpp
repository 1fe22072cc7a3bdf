#include "stats/estimate.h"

#include <cmath>
#include <stdexcept>
#include <string>

#include "stats/bca.h"
#include "stats/crossover.h"
#include "stats/hodges_lehmann.h"
#include "stats/moments.h"
#include "stats/paired.h"
#include "stats/permutation.h"
#include "stats/sign.h"
#include "stats/text.h"

namespace vsb::stats {

namespace {

constexpr std::size_t kNormalNeeds = 30;
constexpr double kPeriodLevel = 0.05;

std::optional<double> period_p(const LogPairs& pairs) {
    if (!pairs.two_of_each()) return std::nullopt;
    return fit_crossover(pairs.d, pairs.order).period_p();
}

Estimate by_crossover(const LogPairs& pairs) {
    const CrossoverFit fit = fit_crossover(pairs.d, pairs.order);
    Estimate out;
    out.method = Method::crossover_t;
    out.theta = fit.theta;
    out.se = fit.se;
    out.df = fit.df;
    out.p = fit.p();
    out.interval = [fit](double confidence) { return fit.interval(confidence); };
    out.zero_spread = fit.se <= 0;
    out.least_squares_means = true;
    return out;
}

Estimate by_paired(Method method, const PairedFit& fit) {
    Estimate out;
    out.method = method;
    out.theta = fit.theta;
    out.se = fit.se;
    out.df = fit.df;
    out.p = fit.p();
    out.interval = [fit](double confidence) { return fit.interval(confidence); };
    out.zero_spread = fit.se <= 0;
    return out;
}

Estimate by_sign(const LogPairs& pairs) {
    Estimate out;
    out.method = Method::sign;
    out.theta = median(pairs.d);
    out.p = sign_test(pairs.d).p;
    out.interval = [d = pairs.d](double confidence) { return median_interval(d, confidence); };
    return out;
}

// The estimate is the Walsh median whatever the period does: in a balanced plan a period effect
// only widens it. The adjusted one is told where it matters.
Estimate by_hodges_lehmann(const LogPairs& pairs, double confidence) {
    Estimate out;
    out.method = Method::hodges_lehmann;
    out.theta = hodges_lehmann(pairs.d, confidence).theta;
    if (const auto test = signed_rank_test(pairs.d)) out.p = test->p;
    out.interval = [d = pairs.d](double level) { return hodges_lehmann(d, level).interval; };
    const std::optional<double> period = period_p(pairs);
    if (period && *period < kPeriodLevel) {
        const HodgesLehmann adjusted =
            hodges_lehmann_period_adjusted(pairs.d, pairs.order, confidence);
        std::string text = "with the period effect taken out the change is " +
                           short_percent(std::expm1(adjusted.theta));
        if (adjusted.interval.confidence >= confidence) {
            text += " [" + short_percent(std::expm1(adjusted.interval.low)) + ", " +
                    short_percent(std::expm1(adjusted.interval.high)) + "]";
        }
        text += " (p " + short_number(rank_sum_test(pairs.d, pairs.order).p) + ")";
        out.warnings.push_back({"period-adjusted", text});
    }
    return out;
}

Estimate by_bca(const LogPairs& pairs, std::uint64_t seed) {
    Bca fit = bca(pairs.d, seed);
    Estimate out;
    out.method = Method::bca;
    out.theta = fit.theta;
    out.se = fit.se;
    out.draws = fit.means.size();
    out.interval = [fit = std::move(fit)](double level) { return fit.interval(level); };
    return out;
}

Estimate by_sign_flip(const LogPairs& pairs, std::uint64_t seed) {
    const PermutationP test = sign_flip_test(pairs.d, seed);
    Estimate out;
    out.method = Method::permutation;
    out.theta = moments(pairs.d).mean;
    out.p = test.p;
    out.draws = test.draws;
    out.interval = [d = pairs.d, seed](double level) { return sign_flip_interval(d, level, seed); };
    return out;
}

Estimate by_order_labels(const LogPairs& pairs, std::uint64_t seed) {
    const PermutationP test = order_label_test(pairs.d, pairs.order, seed);
    Estimate out;
    out.method = Method::permutation;
    out.theta = fit_crossover(pairs.d, pairs.order).theta;
    out.least_squares_means = true;
    out.p = test.p;
    out.draws = test.draws;
    out.interval = [pairs, seed](double level) {
        return order_label_interval(pairs.d, pairs.order, level, seed);
    };
    out.warnings.push_back({"order-labels-permuted",
                            "there is a period effect, so the order labels were permuted; "
                            "flipping signs, which ignores it, gives p " +
                                short_number(sign_flip_test(pairs.d, seed).p)});
    return out;
}

Estimate by_permutation(const LogPairs& pairs, std::uint64_t seed) {
    const std::optional<double> period = period_p(pairs);
    if (period && *period < kPeriodLevel) return by_order_labels(pairs, seed);
    return by_sign_flip(pairs, seed);
}

Estimate of_constant(const LogPairs& pairs, Method method) {
    Estimate out;
    out.method = method;
    out.theta = median(pairs.d);
    out.se = 0;
    out.interval = [theta = out.theta](double confidence) {
        return LogInterval{theta, theta, confidence};
    };
    out.zero_spread = true;
    out.least_squares_means = method == Method::crossover_t;
    return out;
}

}  // namespace

Estimate estimate(const LogPairs& pairs, const Options& options) {
    Method method = options.method;
    std::vector<Warning> warnings;
    if (method == Method::crossover_t && !pairs.two_of_each()) {
        method = Method::paired_t;
        warnings.push_back({"too-few-of-an-order",
                            std::to_string(pairs.n_ab) + " pairs ran AB and " +
                                std::to_string(pairs.n_ba) +
                                " BA: crossover-t needs two of each, paired-t is given, and a "
                                "period effect cannot be told from the change"});
    }
    if (method == Method::normal && pairs.size() < kNormalNeeds) {
        warnings.push_back(
            {"normal-small-sample", "the normal interval is too narrow with " +
                                        std::to_string(pairs.size()) + " pairs, fewer than " +
                                        std::to_string(kNormalNeeds) + " (use crossover-t)"});
    }
    Estimate out = [&] {
        if (pairs.constant()) return of_constant(pairs, method);
        switch (method) {
            case Method::crossover_t:
                return by_crossover(pairs);
            case Method::paired_t:
                return by_paired(method, fit_paired_t(pairs.d));
            case Method::normal:
                return by_paired(method, fit_normal(pairs.d));
            case Method::sign:
                return by_sign(pairs);
            case Method::hodges_lehmann:
                return by_hodges_lehmann(pairs, options.confidence);
            case Method::bca:
                return by_bca(pairs, options.seed);
            case Method::permutation:
                return by_permutation(pairs, options.seed);
        }
        throw std::invalid_argument("method: not one of the enumeration's values");
    }();
    warnings.insert(warnings.end(), out.warnings.begin(), out.warnings.end());
    out.warnings = std::move(warnings);
    return out;
}

}  // namespace vsb::stats
