#include "stats/moments.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace vsb::stats {

void CompensatedSum::add(double x) noexcept {
    const double next = sum_ + x;
    if (std::abs(sum_) >= std::abs(x)) {
        lost_ += (sum_ - next) + x;
    } else {
        lost_ += (x - next) + sum_;
    }
    sum_ = next;
}

double compensated_sum(std::span<const double> values) noexcept {
    CompensatedSum sum;
    for (const double x : values)
        sum.add(x);
    return sum.value();
}

double Moments::variance() const noexcept {
    return n < 2 ? 0.0 : ss / static_cast<double>(n - 1);
}

double Moments::sd() const noexcept {
    return std::sqrt(variance());
}

Moments moments(std::span<const double> values) noexcept {
    if (values.empty()) return {};
    const double count = static_cast<double>(values.size());
    const double mean = compensated_sum(values) / count;
    CompensatedSum squares;
    for (const double x : values)
        squares.add((x - mean) * (x - mean));
    return {values.size(), mean, squares.value()};
}

double median(std::span<const double> values) {
    if (values.empty()) return 0;
    std::vector<double> copy(values.begin(), values.end());
    const auto middle = copy.begin() + static_cast<std::ptrdiff_t>(copy.size() / 2);
    std::nth_element(copy.begin(), middle, copy.end());
    if (copy.size() % 2 == 1) return *middle;
    const double below = *std::max_element(copy.begin(), middle);
    return std::midpoint(below, *middle);
}

double median_absolute_deviation(std::span<const double> values) {
    const double centre = median(values);
    std::vector<double> distance;
    distance.reserve(values.size());
    for (const double x : values)
        distance.push_back(std::abs(x - centre));
    return median(distance);
}

}  // namespace vsb::stats
