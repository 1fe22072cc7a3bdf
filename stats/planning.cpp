#include "stats/planning.h"

#include <cmath>
#include <stdexcept>
#include <string>

#include "stats/distributions.h"
#include "stats/least_even.h"
#include "stats/text.h"

namespace vsb::stats {

namespace {

void need(bool fine, const char* what, double got, const char* wanted) {
    if (fine) return;
    throw std::invalid_argument(std::string("planning: ") + what + " is " + short_number(got) +
                                ", " + wanted + " is needed");
}

void check_positive(const char* what, double x) {
    need(x > 0 && std::isfinite(x), what, x, "a number above 0");
}

void check_probability(const char* what, double x) {
    need(x > 0 && x < 1, what, x, "a number between 0 and 1");
}

void check_pairs(std::size_t pairs) {
    need(pairs >= 4 && pairs % 2 == 0, "the number of pairs", static_cast<double>(pairs),
         "an even number of at least 4");
}

double log_half_width(std::size_t pairs, double sd, double confidence) {
    const double n = static_cast<double>(pairs);
    return t_quantile((1 + confidence) / 2, n - 2) * sd / std::sqrt(n);
}

// noncentrality = ln(1 + change) sqrt(n)/sd.
double power_at(std::size_t pairs, double noncentrality, double confidence) {
    const double df = static_cast<double>(pairs) - 2;
    const double critical = t_quantile((1 + confidence) / 2, df);
    if (noncentrality > 36) {
        // T is noncentrality over the spread of s, whose own normal part no longer counts.
        const double ratio = noncentrality / critical;
        if (ratio > 1000) return 1;
        return 1 - chi_squared_upper_tail(df * ratio * ratio, df);
    }
    return 1 - noncentral_t_cdf(critical, df, noncentrality) +
           noncentral_t_cdf(-critical, df, noncentrality);
}

}  // namespace

std::size_t pairs_for_half_width(double sd, double half_width, double confidence) {
    check_positive("sd", sd);
    check_positive("the half-width", half_width);
    check_probability("the confidence", confidence);
    return least_even_pairs(
        [&](std::size_t n) { return log_half_width(n, sd, confidence) <= std::log1p(half_width); });
}

std::size_t pairs_for_half_width_assured(double sd, double half_width, double confidence,
                                         double assurance) {
    check_positive("sd", sd);
    check_positive("the half-width", half_width);
    check_probability("the confidence", confidence);
    check_probability("the assurance", assurance);
    return least_even_pairs([&](std::size_t n) {
        const double df = static_cast<double>(n) - 2;
        const double stretch = std::sqrt(chi_squared_quantile(assurance, df) / df);
        return log_half_width(n, sd, confidence) * stretch <= std::log1p(half_width);
    });
}

std::size_t pairs_for_half_width_estimated(double sd, double sd_df, double half_width,
                                           double confidence, double assurance) {
    check_positive("sd", sd);
    check_positive("the degrees of freedom of sd", sd_df);
    check_positive("the half-width", half_width);
    check_probability("the confidence", confidence);
    check_probability("the assurance", assurance);
    return least_even_pairs([&](std::size_t n) {
        const double stretch = f_quantile(assurance, static_cast<double>(n) - 2, sd_df);
        return log_half_width(n, sd * std::sqrt(stretch), confidence) <= std::log1p(half_width);
    });
}

std::size_t pairs_after_pilot(double sd, std::size_t pilot_pairs, double half_width,
                              double confidence, double assurance) {
    check_positive("sd", sd);
    need(pilot_pairs >= 4, "the pilot", static_cast<double>(pilot_pairs),
         "one of at least 4 pairs");
    check_positive("the half-width", half_width);
    check_probability("the confidence", confidence);
    check_probability("the assurance", assurance);
    const double target = std::log1p(half_width);
    if (log_half_width(pilot_pairs, sd, confidence) <= target) return pilot_pairs;
    const double pilot_df = static_cast<double>(pilot_pairs) - 2;
    return least_even_pairs([&](std::size_t n) {
        if (n <= pilot_pairs) return false;
        const double more = static_cast<double>(n - pilot_pairs);
        const double share = (pilot_df + more * f_quantile(assurance, more, pilot_df)) /
                             (static_cast<double>(n) - 2);
        return log_half_width(n, sd * std::sqrt(share), confidence) <= target;
    });
}

double half_width_of(std::size_t pairs, double sd, double confidence) {
    check_pairs(pairs);
    check_positive("sd", sd);
    check_probability("the confidence", confidence);
    return std::expm1(log_half_width(pairs, sd, confidence));
}

double power_of(std::size_t pairs, double change, double sd, double confidence) {
    check_pairs(pairs);
    check_positive("sd", sd);
    check_probability("the confidence", confidence);
    need(change > -1 && std::isfinite(change), "the change", change, "a fraction above -1");
    const double effect = std::abs(std::log1p(change));
    return power_at(pairs, effect * std::sqrt(static_cast<double>(pairs)) / sd, confidence);
}

std::size_t pairs_for_power(double change, double sd, double power, double confidence) {
    check_probability("the power", power);
    need(change != 0, "the change", change, "a fraction other than 0");
    power_of(4, change, sd, confidence);  // checks the rest
    return least_even_pairs(
        [&](std::size_t n) { return power_of(n, change, sd, confidence) >= power; });
}

double minimum_detectable_change(std::size_t pairs, double sd, double power, double confidence) {
    check_pairs(pairs);
    check_positive("sd", sd);
    check_probability("the power", power);
    check_probability("the confidence", confidence);
    double low = 0;  // power grows with the noncentrality: bracket it, then halve
    double high = 1;
    while (power_at(pairs, high, confidence) < power) {
        low = high;
        high *= 2;
    }
    for (int i = 0; i < 80; ++i) {
        const double middle = (low + high) / 2;
        (power_at(pairs, middle, confidence) < power ? low : high) = middle;
    }
    return std::expm1(high * sd / std::sqrt(static_cast<double>(pairs)));
}

}  // namespace vsb::stats
