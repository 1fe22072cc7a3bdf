#pragma once
// Sums that keep their digits: compensated sums and two-pass sums of squares, so that data with a
// large common part (1e7 + 0.1) do not lose their spread. Checked against NIST's certified digits.
// Source: Neumaier 1974 (compensated sum); Chan, Golub, LeVeque 1983 (two passes).

#include <cstddef>
#include <span>

namespace vsb::stats {

// A running sum with Neumaier's compensation.
class CompensatedSum {
  public:
    void add(double x) noexcept;
    double value() const noexcept { return sum_ + lost_; }

  private:
    double sum_ = 0;
    double lost_ = 0;
};

double compensated_sum(std::span<const double> values) noexcept;

// ss is the sum of squares about the mean, in the square of the values' unit.
struct Moments {
    std::size_t n = 0;
    double mean = 0;
    double ss = 0;

    double variance() const noexcept;  // ss / (n - 1); 0 when n < 2
    double sd() const noexcept;
};

// Of no values: all zero.
Moments moments(std::span<const double> values) noexcept;

// The median: the middle value, or the mean of the two middle ones. Of no values: 0.
double median(std::span<const double> values);

// Median absolute deviation about the median, unscaled. Of no values: 0.
double median_absolute_deviation(std::span<const double> values);

}  // namespace vsb::stats
