#include "stats/distributions.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace vsb::stats {

namespace bm = boost::math;

double normal_cdf(double z) {
    return bm::cdf(bm::normal(), z);
}

double normal_quantile(double probability) {
    return bm::quantile(bm::normal(), probability);
}

double normal_two_sided_p(double z) {
    return 2 * bm::cdf(bm::complement(bm::normal(), std::abs(z)));
}

double t_quantile(double probability, double df) {
    return bm::quantile(bm::students_t(df), probability);
}

double t_upper_tail(double t, double df) {
    return bm::cdf(bm::complement(bm::students_t(df), t));
}

double t_two_sided_p(double t, double df) {
    return 2 * t_upper_tail(std::abs(t), df);
}

double noncentral_t_cdf(double t, double df, double noncentrality) {
    return bm::cdf(bm::non_central_t(df, noncentrality), t);
}

double chi_squared_quantile(double probability, double df) {
    return bm::quantile(bm::chi_squared(df), probability);
}

double chi_squared_upper_tail(double x, double df) {
    return bm::cdf(bm::complement(bm::chi_squared(df), x));
}

double f_quantile(double probability, double df1, double df2) {
    return bm::quantile(bm::fisher_f(df1, df2), probability);
}

double fair_binomial_cdf(std::size_t k, std::size_t n) {
    if (k >= n) return 1;
    return bm::cdf(bm::binomial(static_cast<double>(n), 0.5), static_cast<double>(k));
}

double fair_binomial_two_sided_p(std::size_t k, std::size_t n) {
    return std::min(1.0, 2 * fair_binomial_cdf(std::min(k, n - k), n));
}

std::size_t fair_binomial_below(double probability, std::size_t n) {
    std::size_t low = 0;  // P(K <= low - 1) <= probability, or low is 0
    std::size_t high = n + 1;
    while (high - low > 1) {
        const std::size_t middle = low + (high - low) / 2;
        (fair_binomial_cdf(middle - 1, n) <= probability ? low : high) = middle;
    }
    return low;
}

}  // namespace vsb::stats
