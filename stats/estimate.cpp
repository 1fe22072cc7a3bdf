#include "stats/estimate.h"

#include <stdexcept>
#include <string>

#include "stats/crossover.h"
#include "stats/moments.h"
#include "stats/paired.h"
#include "stats/sign.h"

namespace vsb::stats {

namespace {

constexpr std::size_t kNormalNeeds = 30;

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
            default:
                break;
        }
        throw std::invalid_argument("method: " + std::string(method_name(method)) +
                                    " is not to be had yet");
    }();
    warnings.insert(warnings.end(), out.warnings.begin(), out.warnings.end());
    out.warnings = std::move(warnings);
    return out;
}

}  // namespace vsb::stats
