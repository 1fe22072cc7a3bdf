#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#include "stats/change_points.h"
#include "stats/draws.h"
#include "stats/energy_split.h"
#include "stats/segments.h"

namespace vsb::stats {

namespace {

struct Segment {
    std::size_t begin = 0;
    std::size_t end = 0;
    EnergySplitter splitter;
    EnergySplit best;
    std::vector<std::uint32_t> order;
};

Segment make_segment(std::size_t begin, std::size_t end, std::span<const double> x,
                     std::span<const double> w, std::size_t min_segment) {
    Segment s{
        begin,
        end,
        EnergySplitter(x.subspan(begin, end - begin), w.subspan(begin, end - begin), min_segment),
        {},
        std::vector<std::uint32_t>(end - begin)};
    std::iota(s.order.begin(), s.order.end(), 0U);
    s.best = s.splitter.best(s.order);
    return s;
}

// The greatest statistic over all segments when each is shuffled within itself.
double shuffled_best(std::vector<Segment>& segments, Draws& random) {
    double greatest = 0;
    for (Segment& s : segments) {
        if (s.best.at == 0) continue;
        for (std::size_t i = s.order.size() - 1; i > 0; --i) {
            std::swap(s.order[i], s.order[random.below(i + 1)]);
        }
        greatest = std::max(greatest, s.splitter.best(s.order).statistic);
    }
    return greatest;
}

}  // namespace

std::vector<ChangePoint> e_divisive(std::span<const Night> nights,
                                    const EDivisiveOptions& options) {
    check_nights(nights);
    if (options.min_segment < 2 || options.permutations < 1 ||
        !(options.alpha > 0 && options.alpha < 1)) {
        throw std::invalid_argument(
            "e-divisive: needed are a segment of at least 2 nights, at least 1 permutation and an "
            "alpha between 0 and 1");
    }
    const std::vector<double> x = log_ratios(nights);
    const std::vector<double> w = relative_weights(nights);
    std::vector<Segment> segments;
    if (!nights.empty()) segments.push_back(make_segment(0, x.size(), x, w, options.min_segment));
    std::vector<std::pair<std::size_t, double>> found;  // index and p
    Draws random(options.seed);
    while (!segments.empty()) {
        const auto best = std::max_element(segments.begin(), segments.end(),
                                           [](const Segment& left, const Segment& right) {
                                               return left.best.statistic < right.best.statistic;
                                           });
        // Rounding alone moves the statistic of a constant segment a little above 0.
        const double observed = best->best.statistic;
        if (best->best.at == 0 || observed <= 1e-13 * scatter(x)) break;
        // Most series have no change: as soon as p cannot come down to alpha any more, that is
        // that.
        std::size_t as_great = 0;
        const auto p_of = [&] {
            return static_cast<double>(1 + as_great) /
                   static_cast<double>(1 + options.permutations);
        };
        for (std::size_t i = 0; i < options.permutations && p_of() <= options.alpha; ++i) {
            if (shuffled_best(segments, random) >= observed * (1 - 1e-10)) ++as_great;
        }
        const double p = p_of();
        if (p > options.alpha) break;
        const std::size_t begin = best->begin;
        const std::size_t end = best->end;
        const std::size_t at = begin + best->best.at;
        found.emplace_back(at, p);
        segments.erase(best);
        segments.push_back(make_segment(begin, at, x, w, options.min_segment));
        segments.push_back(make_segment(at, end, x, w, options.min_segment));
    }
    std::sort(found.begin(), found.end());
    std::vector<std::size_t> indices;
    for (const auto& [index, p] : found)
        indices.push_back(index);
    std::vector<ChangePoint> out = describe(nights, indices);
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i].p = found[i].second;
    return out;
}

}  // namespace vsb::stats
