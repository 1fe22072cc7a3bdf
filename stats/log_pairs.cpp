#include "stats/log_pairs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>

namespace vsb::stats {

namespace {

// Beyond this |ln(B/A)| a ratio, or its inverse, has left the range of a double.
constexpr double kWidestLogRatio = 700;

[[noreturn]] void refuse(std::size_t index, const std::string& why) {
    throw std::invalid_argument("comparison: pair " + std::to_string(index + 1) + ": " + why);
}

void check_value(double value, const char* state, std::size_t index) {
    if (std::isfinite(value) && value > 0) return;
    std::ostringstream text;
    text << "the value of " << state << " is " << value
         << ": a change needs values that are finite and above zero (leave the pair out)";
    refuse(index, text.str());
}

double log_ratio(const Pair& pair) {
    // One rounding less than the difference of two logarithms, wherever the ratio is a plain
    // number.
    const double ratio = pair.b / pair.a;
    if (std::isnormal(ratio)) return std::log(ratio);
    return std::log(pair.b) - std::log(pair.a);
}

}  // namespace

bool LogPairs::constant() const noexcept {
    const auto [least, greatest] = std::minmax_element(d.begin(), d.end());
    const double rounding = 8 * std::numeric_limits<double>::epsilon();
    return *greatest - *least <= rounding * (1 + std::abs(*greatest));
}

LogPairs log_pairs(std::span<const Pair> pairs) {
    if (pairs.size() < 2) {
        throw std::invalid_argument("comparison: " + std::to_string(pairs.size()) + " pair" +
                                    (pairs.size() == 1 ? "" : "s") +
                                    " given: two are the least (run more pairs)");
    }
    LogPairs out;
    out.a.reserve(pairs.size());
    out.b.reserve(pairs.size());
    out.d.reserve(pairs.size());
    out.order.reserve(pairs.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        check_value(pairs[i].a, "A", i);
        check_value(pairs[i].b, "B", i);
        const double d = log_ratio(pairs[i]);
        if (std::abs(d) > kWidestLogRatio) {
            refuse(i, "B/A is beyond what a double can hold (check the values' units)");
        }
        out.a.push_back(std::log(pairs[i].a));
        out.b.push_back(std::log(pairs[i].b));
        out.d.push_back(d);
        out.order.push_back(pairs[i].order);
        ++(pairs[i].order == Order::ab ? out.n_ab : out.n_ba);
    }
    return out;
}

std::vector<double> of_order(std::span<const double> x, std::span<const Order> orders,
                             Order order) {
    std::vector<double> out;
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (orders[i] == order) out.push_back(x[i]);
    }
    return out;
}

}  // namespace vsb::stats
