#pragma once
// Power of two one-sided tests in a balanced crossover, exactly, by one-dimensional integration
// over the distribution of s:
//   power = integral of [Phi((U - theta)/SE - t x) - Phi((L - theta)/SE + t x)] f(x) dx
// with x = s/sigma, df x^2 ~ chi2(df), t = t_{1-alpha, df}, from 0 to where the bracket ends.
// Source: Hauschke, Steinijans, Pigeot, Bioequivalence Studies in Drug Development, 2007, chapter
// 5; the integral is Owen's Q.

#include <cstddef>

namespace vsb::stats {

struct TostPlan {
    double sd = 0;     // of d = ln(B/A)
    double ratio = 1;  // true B/A
    double low = 0;    // limits of the ratio: 1/(1 + margin) and 1 + margin, or any others
    double high = 0;
    double alpha = 0.05;
};

// sd of d from a coefficient of variation within a state: sqrt(2 ln(1 + cv^2)).
double sd_of_cv(double cv);

// pairs: even, at least 4. Throws std::invalid_argument for a plan out of range.
double tost_power(const TostPlan& plan, std::size_t pairs);

// Least even n with this power. Also throws when the ratio lies on or outside the limits.
std::size_t pairs_for_tost(const TostPlan& plan, double power);

}  // namespace vsb::stats
