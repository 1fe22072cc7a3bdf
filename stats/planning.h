#pragma once
// How many pairs, how much power, and how small a change can be seen, for the crossover t with as
// many AB as BA pairs: SE = s_d/sqrt(n), df = n - 2, n even and at least 4.
// sd is the standard deviation of d = ln(B/A) (2% is 0.02); changes, half-widths and margins are
// fractions and enter as ln(1 + x). All functions throw std::invalid_argument for an sd or a target
// that is not finite and above 0, for probabilities outside (0, 1), for n below 4 or odd, and when
// more than kMostPlannedPairs would be needed.
// Source: Cohen 1988 (power by the noncentral t); Kupper and Hafner 1989 (assurance of a width);
// Coffey and Muller 1999 (what a plan from an internal pilot costs).

#include <cstddef>

namespace vsb::stats {

inline constexpr std::size_t kMostPlannedPairs = 10'000'000;

// Least even n with t_{n-2} sd/sqrt(n) <= ln(1 + half_width).
std::size_t pairs_for_half_width(double sd, double half_width, double confidence = 0.95);

// Likewise with sd times sqrt(chi2_{assurance}(df)/df): the width is then kept with this chance.
std::size_t pairs_for_half_width_assured(double sd, double half_width, double confidence = 0.95,
                                         double assurance = 0.80);

// Likewise for a new run when sd is itself an estimate with sd_df degrees of freedom: sd times
// sqrt(F_{assurance}(df, sd_df)), which is the rule above where sd_df is infinite.
std::size_t pairs_for_half_width_estimated(double sd, double sd_df, double half_width,
                                           double confidence = 0.95, double assurance = 0.80);

// How many pairs a run is to have in the end, of which the first pilot_pairs gave sd (pilot_pairs -
// 2 degrees of freedom) and stay in: pilot_pairs where their own width is enough, else the least
// even n whose pooled sd,
//   s^2 = (df_pilot sd^2 + (n - pilot_pairs) sd^2 F_{assurance}(n - pilot_pairs, df_pilot))/(n -
//   2),
// keeps the width. The decision sees the scatter and never the change. A small pilot sd ends the
// run early, so the final interval covers a little less than it says: at least 94.1% of 95% with a
// pilot of 20 (93.5% with 12), whatever the sd. Also throws for pilot_pairs below 4.
std::size_t pairs_after_pilot(double sd, std::size_t pilot_pairs, double half_width,
                              double confidence = 0.95, double assurance = 0.80);

// The half-width that n pairs promise, as a fraction.
double half_width_of(std::size_t pairs, double sd, double confidence = 0.95);

// Chance that the two-sided test at 1 - confidence finds a change of this size (of either sign).
double power_of(std::size_t pairs, double change, double sd, double confidence = 0.95);

// Least even n with power_of >= power.
std::size_t pairs_for_power(double change, double sd, double power = 0.80,
                            double confidence = 0.95);

// The least increase that n pairs find with this power, as a fraction.
double minimum_detectable_change(std::size_t pairs, double sd, double power = 0.80,
                                 double confidence = 0.95);

}  // namespace vsb::stats
