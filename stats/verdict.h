#pragma once
// What an interval of ln(B/A) allows to be said, and tests against a margin.
// Source: Schuirmann 1987 (two one-sided tests); Hauschke, Steinijans, Pigeot 2007.

#include <optional>

#include "stats/comparison.h"
#include "stats/log_interval.h"

namespace vsb::stats {

// `wide` is the interval at 1 - alpha, `narrow` the one at 1 - 2 alpha, used only with a margin
// (a fraction: 0.02 bounds the ratio by 1.02 and 1/1.02). `equivalent` if narrow lies inside the
// margin; else `faster` or `slower`, from B's side and by what is better, if wide misses 0; else
// `inconclusive`. An interval that falls short of `confidence` allows nothing to be said.
Verdict verdict(const LogInterval& wide, const std::optional<LogInterval>& narrow,
                std::optional<double> margin, Better better, double confidence);

// A point estimate with a t or, with df absent, a normal distribution about it.
struct LogEstimate {
    double theta = 0;
    double se = 0;  // above 0
    std::optional<double> df;
};

// p of the two one-sided tests against |theta| >= ln(1 + margin): the greater of the two.
// Throws std::invalid_argument unless margin and se are above 0.
double equivalence_p(const LogEstimate& estimate, double margin);

// p of the one-sided test against B being worse than A by the margin or more: for Better::higher
// against theta <= -ln(1 + margin), for Better::lower against theta >= ln(1 + margin).
double non_inferiority_p(const LogEstimate& estimate, double margin, Better better);

}  // namespace vsb::stats
