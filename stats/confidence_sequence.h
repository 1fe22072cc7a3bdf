#pragma once
// A t interval that may be looked at after every pair: the chance that it ever misses the truth,
// over any number of looks, is at most 1 - confidence. With mean m and standard deviation s of n
// values,
//   r = c^2/(n + c^2),  K = (alpha sqrt(r))^(-2/n),
//   half-width = (s/sqrt(n)) sqrt((n - 1)(K - 1)/(1 - r K)), infinite where r K >= 1.
// It pays with width: stopping at a fixed number of pairs, planned from a pilot, needs fewer.
// Source: Wang and Ramdas 2023, Anytime-valid t-tests and confidence sequences (arXiv:2310.03722).

#include <span>

#include "stats/log_interval.h"

namespace vsb::stats {

// c of the mixture: the greater, the earlier the interval is narrow and the wider it ends.
inline constexpr double kSequenceMixture = 1.0;

// Of d = ln(B/A) so far; the bounds are infinite while nothing can be said.
// Throws std::invalid_argument: no values, a confidence outside (0, 1), c not above 0.
LogInterval confidence_sequence(std::span<const double> d, double confidence,
                                double c = kSequenceMixture);

}  // namespace vsb::stats
