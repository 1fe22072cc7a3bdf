#pragma once
// The few distribution functions that the statistics need, with Boost.Math behind them and out of
// everyone else's way. Tails are computed as tails, never as 1 - cdf, so small p keep their digits.
// Degrees of freedom may be any number above 0, probabilities lie in (0, 1); anything else is a
// std::domain_error of Boost.Math.

#include <cstddef>

namespace vsb::stats {

double normal_cdf(double z);
double normal_quantile(double probability);
double normal_two_sided_p(double z);  // P(|Z| >= |z|)

double t_quantile(double probability, double df);
double t_upper_tail(double t, double df);   // P(T >= t)
double t_two_sided_p(double t, double df);  // P(|T| >= |t|)

// P(T <= t) of the noncentral t. Exact to about 1e-12 for |noncentrality| <= 37.
double noncentral_t_cdf(double t, double df, double noncentrality);

double chi_squared_quantile(double probability, double df);
double chi_squared_upper_tail(double x, double df);  // P(X >= x)

double f_quantile(double probability, double df1, double df2);

// P(K <= k) of a fair coin thrown n times.
double fair_binomial_cdf(std::size_t k, std::size_t n);

// min(1, 2 P(K <= min(k, n - k))): the exact two-sided test of a fair coin. n = 0 gives 1.
double fair_binomial_two_sided_p(std::size_t k, std::size_t n);

// The greatest k with P(K <= k) <= probability, plus 1; 0 where even P(K <= 0) is above it.
std::size_t fair_binomial_below(double probability, std::size_t n);

}  // namespace vsb::stats
