#include "stats/adjust.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <string>

namespace vsb::stats {

namespace {

std::vector<std::size_t> ascending(std::span<const double> p) {
    for (std::size_t i = 0; i < p.size(); ++i) {
        if (!(p[i] >= 0 && p[i] <= 1)) {
            throw std::invalid_argument("adjust: p-value " + std::to_string(i + 1) +
                                        " is not between 0 and 1");
        }
    }
    std::vector<std::size_t> order(p.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t i, std::size_t j) { return p[i] < p[j]; });
    return order;
}

}  // namespace

std::vector<double> holm(std::span<const double> p) {
    const std::vector<std::size_t> order = ascending(p);
    std::vector<double> out(p.size());
    double so_far = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        so_far = std::max(so_far, static_cast<double>(order.size() - i) * p[order[i]]);
        out[order[i]] = std::min(1.0, so_far);
    }
    return out;
}

std::vector<double> benjamini_hochberg(std::span<const double> p) {
    const std::vector<std::size_t> order = ascending(p);
    std::vector<double> out(p.size());
    double so_far = 1;
    for (std::size_t i = order.size(); i-- > 0;) {
        const double scale = static_cast<double>(order.size()) / static_cast<double>(i + 1);
        so_far = std::min(so_far, scale * p[order[i]]);
        out[order[i]] = so_far;
    }
    return out;
}

}  // namespace vsb::stats
