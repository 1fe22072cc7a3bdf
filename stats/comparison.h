#pragma once
// One row of a comparison: what changed from A to B, how sure we are, and what to doubt.
// All changes and bounds are fractions (0.01 = +1%), change = B/A - 1, computed on natural logs.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stats/pair.h"

namespace vsb::stats {

enum class Method : std::uint8_t {
    crossover_t,
    paired_t,
    normal,
    hodges_lehmann,
    sign,
    bca,
    permutation,
};

// The names users type and read: "crossover-t", "paired-t", ... parse_method throws
// std::invalid_argument listing the names.
std::string_view method_name(Method m);
Method parse_method(std::string_view name);

enum class Better : std::uint8_t { higher, lower };

enum class Verdict : std::uint8_t { faster, slower, equivalent, inconclusive };
std::string_view verdict_name(Verdict v);

struct Interval {
    double low = 0;
    double high = 0;
};

// Something the reader must know before believing the row. code is stable (lower-case, dashes).
struct Warning {
    std::string code;
    std::string text;
};

struct Options {
    Method method = Method::crossover_t;
    double confidence = 0.95;           // in (0, 1)
    std::optional<double> margin = {};  // equivalence margin as a fraction: 0.02 = 2%
    Better better = Better::higher;
    std::uint64_t seed = 1;  // of the methods that draw (bca, Monte Carlo permutation)
};

// k of n pairs in which B is the better one; ties are left out of n and counted.
struct Faster {
    std::size_t k = 0;
    std::size_t n = 0;
    std::size_t ties = 0;
    std::optional<double> p;  // exact two-sided sign test; absent when n = 0
};

struct Period {
    double effect = 0;  // exp((m1-m2)/2) - 1: second run of a pair against the first
    std::optional<double> p;
};

struct PointInterval {
    double change = 0;
    double low = 0;
    double high = 0;
};

struct Comparison {
    Method method = Method::crossover_t;  // the one used; Options::method is the one asked for
    Better better = Better::higher;
    double confidence = 0.95;
    std::size_t n_ab = 0;
    std::size_t n_ba = 0;
    double a = 0;  // least-squares geometric means, unit of the input
    double b = 0;
    double ratio = 1;   // B/A
    double change = 0;  // ratio - 1
    Interval ci;        // of change, at `confidence`; high may be +infinity (unbounded-interval)
    std::optional<double> se_log;
    std::optional<double> df;
    std::optional<double> p;
    Verdict verdict = Verdict::inconclusive;
    Faster faster;
    std::optional<Period> period;       // absent with fewer than two pairs of an order
    std::optional<double> carryover_p;  // likewise
    // Walsh median with its exact Wilcoxon interval, the robust column beside any method; absent
    // where so few pairs do not reach the confidence (five and fewer at 95%).
    std::optional<PointInterval> hodges_lehmann;
    // Of the methods that drew: how many random draws, and from which seed.
    std::size_t draws = 0;
    std::optional<std::uint64_t> seed;
    std::vector<Warning> warnings;
};

// The comparison of `pairs`, which are in the order they were run.
// Fewer than two pairs of an order: crossover_t falls back to paired_t, with a warning.
// All log ratios equal: the interval is the point, se_log 0, p absent, warning zero-variance.
// Ranks and signs of too few pairs for the confidence: the widest interval there is, the warning
// confidence-not-reached, and no verdict but inconclusive.
// permutation: signs are flipped, or, where the period effect has p < 0.05, order labels permuted.
// p is absent for bca; se_log for hodges-lehmann, sign and permutation; df for all but the t
// methods. a and b of the methods that are not crossover-t are plain geometric means;
// hodges-lehmann and sign estimate a median, so there b/a is not quite `ratio`. Warning codes:
// too-few-of-an-order, normal-small-sample, period-adjusted, order-labels-permuted, zero-variance,
// confidence-not-reached, unbounded-interval, and those of diagnostics.h. Throws
// std::invalid_argument: fewer than two pairs, a value that is not finite and positive (naming the
// pair), a ratio beyond a double, confidence outside (0, 1), margin not positive, or a margin with
// a confidence of 0.5 or less. Source: Hills and Armitage 1979; Senn, Cross-over Trials in Clinical
// Research.
Comparison compare(std::span<const Pair> pairs, const Options& options);

}  // namespace vsb::stats
