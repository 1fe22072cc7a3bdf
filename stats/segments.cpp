#include "stats/segments.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "stats/moments.h"

namespace vsb::stats {

namespace {

struct WeightedMean {
    double mean = 0;
    double variance = 0;  // of the mean
};

WeightedMean weighted_mean(std::span<const Night> nights, std::size_t begin, std::size_t end) {
    // Relative to the least SE, so that 1/SE^2 stays within range.
    double least = nights[begin].se;
    for (std::size_t i = begin; i < end; ++i)
        least = std::min(least, nights[i].se);
    CompensatedSum weights;
    CompensatedSum values;
    for (std::size_t i = begin; i < end; ++i) {
        const double w = (least / nights[i].se) * (least / nights[i].se);
        weights.add(w);
        values.add(w * nights[i].log_ratio);
    }
    return {values.value() / weights.value(), least * least / weights.value()};
}

}  // namespace

void check_nights(std::span<const Night> nights) {
    for (std::size_t i = 0; i < nights.size(); ++i) {
        const std::string name = "history: night " + std::to_string(i + 1);
        if (!std::isfinite(nights[i].log_ratio)) {
            throw std::invalid_argument(name + " has no finite change (leave it out)");
        }
        if (!(nights[i].se > 1e-100 && nights[i].se < 1e100)) {
            throw std::invalid_argument(name + " has no usable standard error (leave it out)");
        }
    }
}

std::vector<double> log_ratios(std::span<const Night> nights) {
    std::vector<double> out;
    out.reserve(nights.size());
    for (const Night& night : nights)
        out.push_back(night.log_ratio);
    return out;
}

std::vector<double> relative_weights(std::span<const Night> nights) {
    std::vector<double> out;
    out.reserve(nights.size());
    if (nights.empty()) return out;
    double least = nights[0].se;
    for (const Night& night : nights)
        least = std::min(least, night.se);
    // A night a thousand times less sure than the surest is as good as none, but its weight must
    // not vanish beside the others' in a sum.
    for (const Night& night : nights) {
        out.push_back(std::max(1e-6, (least / night.se) * (least / night.se)));
    }
    const double mean = moments(out).mean;
    for (double& w : out)
        w /= mean;
    return out;
}

double scatter(std::span<const double> x) {
    if (x.empty()) return 0;
    const auto [least, greatest] = std::minmax_element(x.begin(), x.end());
    return *greatest - *least;
}

std::vector<ChangePoint> describe(std::span<const Night> nights,
                                  std::span<const std::size_t> indices) {
    std::vector<ChangePoint> out;
    for (std::size_t i = 0; i < indices.size(); ++i) {
        const std::size_t begin = i == 0 ? 0 : indices[i - 1];
        const std::size_t end = i + 1 == indices.size() ? nights.size() : indices[i + 1];
        const WeightedMean before = weighted_mean(nights, begin, indices[i]);
        const WeightedMean after = weighted_mean(nights, indices[i], end);
        out.push_back({indices[i], before.mean, after.mean,
                       std::sqrt(before.variance + after.variance), std::nullopt});
    }
    return out;
}

}  // namespace vsb::stats
