#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "stats/change_points.h"
#include "stats/moments.h"
#include "stats/segments.h"

namespace vsb::stats {

namespace {

// Weighted sums of squares about the mean of any stretch of the series, in constant time.
class StretchCost {
  public:
    StretchCost(std::span<const Night> nights, double excess) {
        const double centre = median(log_ratios(nights));
        CompensatedSum weight;
        CompensatedSum moment;
        CompensatedSum square;
        sums_.push_back({});
        for (const Night& night : nights) {
            const double w = 1 / (night.se * night.se * excess);
            const double x = night.log_ratio - centre;
            weight.add(w);
            moment.add(w * x);
            square.add(w * x * x);
            sums_.push_back({weight.value(), moment.value(), square.value()});
        }
    }

    double operator()(std::size_t begin, std::size_t end) const {
        const double w = sums_[end].weight - sums_[begin].weight;
        const double m = sums_[end].moment - sums_[begin].moment;
        const double s = sums_[end].square - sums_[begin].square;
        return w > 0 ? std::max(0.0, s - m * m / w) : 0.0;
    }

  private:
    struct Sums {
        double weight = 0;
        double moment = 0;
        double square = 0;
    };
    std::vector<Sums> sums_;
};

struct Candidate {
    std::size_t at = 0;                                           // where the last segment begins
    std::size_t until = std::numeric_limits<std::size_t>::max();  // not needed from this end on
};

}  // namespace

double excess_scatter(std::span<const Night> nights) {
    check_nights(nights);
    if (nights.size() < 3) return 1;
    std::vector<double> sizes;
    for (std::size_t i = 1; i < nights.size(); ++i) {
        sizes.push_back(std::abs(nights[i].log_ratio - nights[i - 1].log_ratio) /
                        std::hypot(nights[i].se, nights[i - 1].se));
    }
    const double scale = median(sizes) / 0.674489750196082;  // the normal's upper quartile
    return std::max(1.0, scale * scale);
}

std::vector<ChangePoint> pelt(std::span<const Night> nights, const PeltOptions& options) {
    check_nights(nights);
    const std::size_t n = nights.size();
    const std::size_t shortest = options.min_segment;
    if (shortest < 1) throw std::invalid_argument("pelt: a segment has at least 1 night");
    if (options.penalty && !(*options.penalty > 0 && std::isfinite(*options.penalty))) {
        throw std::invalid_argument("pelt: the penalty must be above 0");
    }
    if (n < 2 * shortest) return {};
    const double penalty = options.penalty.value_or(3 * std::log(static_cast<double>(n)));
    const StretchCost cost(nights, excess_scatter(nights));

    // best[t]: the least cost of the first t nights, less one penalty; best[0] pays it back.
    std::vector<double> best(n + 1, std::numeric_limits<double>::infinity());
    std::vector<std::size_t> last(n + 1, 0);
    best[0] = -penalty;
    std::vector<Candidate> candidates;
    for (std::size_t end = shortest; end <= n; ++end) {
        const std::size_t latest = end - shortest;
        if (std::isfinite(best[latest])) candidates.push_back({latest});
        std::erase_if(candidates, [&](const Candidate& c) { return c.until <= end; });
        for (const Candidate& c : candidates) {
            const double total = best[c.at] + cost(c.at, end) + penalty;
            if (total < best[end]) {
                best[end] = total;
                last[end] = c.at;
            }
        }
        // A start that loses by more than a penalty here also loses later, once a segment from here
        // to there is long enough to be one.
        for (Candidate& c : candidates) {
            if (best[c.at] + cost(c.at, end) > best[end])
                c.until = std::min(c.until, end + shortest);
        }
    }
    std::vector<std::size_t> indices;
    for (std::size_t end = n; last[end] > 0; end = last[end])
        indices.push_back(last[end]);
    std::reverse(indices.begin(), indices.end());
    return describe(nights, indices);
}

}  // namespace vsb::stats
