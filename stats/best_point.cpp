#include "stats/best_point.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "stats/draws.h"

namespace vsb::stats {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// ln(B/A) by round, the rounds whole in every point only.
struct Rounds {
    std::size_t points = 0;
    std::size_t rounds = 0;
    std::vector<double> at;  // [round * points + point]

    const double* round(std::size_t r) const { return at.data() + r * points; }
};

double log_ratio(const Pair& pair, std::size_t point, std::size_t round) {
    if (!(std::isfinite(pair.a) && pair.a > 0 && std::isfinite(pair.b) && pair.b > 0)) {
        throw std::invalid_argument("point " + std::to_string(point + 1) + ", round " +
                                    std::to_string(round + 1) +
                                    ": a value is not finite and positive");
    }
    return std::log(pair.b) - std::log(pair.a);
}

// The ratios of one point, its period effect taken out, so that a round's order does not matter.
std::vector<double> without_period(const PointRounds& point, std::size_t number,
                                   const std::vector<std::size_t>& whole) {
    double sum[2] = {};
    double n[2] = {};
    std::vector<double> d;
    d.reserve(whole.size());
    for (const std::size_t round : whole) {
        d.push_back(log_ratio(*point[round], number, round));
        const std::size_t order = point[round]->order == Order::ab ? 0 : 1;
        sum[order] += d.back();
        n[order] += 1;
    }
    if (n[0] == 0 || n[1] == 0) return d;
    const double period = (sum[0] / n[0] - sum[1] / n[1]) / 2;
    for (std::size_t i = 0; i < whole.size(); ++i)
        d[i] += point[whole[i]]->order == Order::ab ? -period : period;
    return d;
}

Rounds rounds_of(std::span<const PointRounds> points, double sign) {
    if (points.size() < 2) throw std::invalid_argument("one point has no rival");
    const std::size_t length = points[0].size();
    std::vector<std::size_t> whole;
    for (const PointRounds& point : points) {
        if (point.size() != length) {
            throw std::invalid_argument("points of different length");
        }
    }
    for (std::size_t r = 0; r < length; ++r) {
        if (std::ranges::all_of(points, [r](const PointRounds& p) { return p[r].has_value(); })) {
            whole.push_back(r);
        }
    }
    if (whole.size() < kFewestRounds) {
        throw std::invalid_argument(std::to_string(whole.size()) +
                                    " rounds are whole in every point, " +
                                    std::to_string(kFewestRounds) + " are needed");
    }
    Rounds out{points.size(), whole.size(), std::vector<double>(points.size() * whole.size())};
    for (std::size_t p = 0; p < points.size(); ++p) {
        const std::vector<double> d = without_period(points[p], p, whole);
        for (std::size_t r = 0; r < d.size(); ++r)
            out.at[r * out.points + p] = sign * d[r];
    }
    return out;
}

// Over weighted rounds: the means of the points, and of every two points the sum of squares of
// their difference.
struct Sums {
    explicit Sums(std::size_t n) : points(n), mean(n), squares(n * n) {}

    void take(const Rounds& data, const std::vector<std::uint32_t>& weight) {
        std::ranges::fill(mean, 0.0);
        std::ranges::fill(squares, 0.0);
        for (std::size_t r = 0; r < data.rounds; ++r) {
            if (weight[r] == 0) continue;
            const double w = weight[r];
            const double* const d = data.round(r);
            for (std::size_t i = 0; i < points; ++i) {
                mean[i] += w * d[i];
                for (std::size_t j = 0; j < i; ++j) {
                    const double difference = d[j] - d[i];
                    squares[i * points + j] += w * difference * difference;
                }
            }
        }
        for (double& m : mean)
            m /= static_cast<double>(data.rounds);
    }

    // Standard error of mean[j] - mean[i].
    double error(std::size_t i, std::size_t j, double n) const {
        const double difference = mean[j] - mean[i];
        const double about_0 = squares[std::max(i, j) * points + std::min(i, j)];
        // A difference without spread leaves only rounding.
        const double spread = about_0 - n * difference * difference;
        return spread <= 1e-12 * about_0 ? 0 : std::sqrt(spread / (n - 1) / n);
    }

    std::size_t points;
    std::vector<double> mean;
    std::vector<double> squares;
};

double studentised(double difference, double error) {
    if (error > 0) return difference / error;
    return difference == 0 ? 0 : difference > 0 ? kInfinity : -kInfinity;
}

// The value that a share `confidence` of the draws does not exceed, on the safe side.
double quantile(std::vector<double>& values, double confidence) {
    const double rank = std::ceil(confidence * static_cast<double>(values.size() + 1));
    const auto at = std::min(values.size(), static_cast<std::size_t>(rank)) - 1;
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at),
                     values.end());
    return values[at];
}

std::size_t highest(const std::vector<double>& means) {
    return static_cast<std::size_t>(std::ranges::max_element(means) - means.begin());
}

}  // namespace

BestPoint best_point(std::span<const PointRounds> points, Better better, double confidence,
                     std::uint64_t seed, std::size_t draws) {
    if (!(confidence > 0 && confidence < 1)) {
        throw std::invalid_argument("confidence is not between 0 and 1");
    }
    const Rounds data = rounds_of(points, better == Better::higher ? 1 : -1);
    const std::size_t k = data.points;
    const auto n = static_cast<double>(data.rounds);

    Sums seen(k);
    seen.take(data, std::vector<std::uint32_t>(data.rounds, 1));
    BestPoint out;
    out.best = highest(seen.mean);
    out.rounds = data.rounds;
    out.seed = seed;
    out.draws = draws != 0 ? draws : affordable_draws(9999, data.rounds * k * k);
    out.share.assign(k, 0);

    std::vector<std::vector<double>> greatest(k);
    for (auto& of_point : greatest)
        of_point.reserve(out.draws);
    Draws random(seed);
    Sums drawn(k);
    std::vector<std::uint32_t> weight(data.rounds);
    for (std::size_t draw = 0; draw < out.draws; ++draw) {
        std::ranges::fill(weight, 0U);
        for (std::size_t r = 0; r < data.rounds; ++r)
            ++weight[random.below(data.rounds)];
        drawn.take(data, weight);
        out.share[highest(drawn.mean)] += 1;
        for (std::size_t i = 0; i < k; ++i) {
            double most = -kInfinity;
            for (std::size_t j = 0; j < k; ++j) {
                if (j == i) continue;
                const double moved =
                    (drawn.mean[j] - drawn.mean[i]) - (seen.mean[j] - seen.mean[i]);
                // Two points without spread differ by the same in every draw.
                most = std::max(
                    most, seen.error(i, j, n) == 0 ? 0 : studentised(moved, drawn.error(i, j, n)));
            }
            greatest[i].push_back(most);
        }
    }
    for (double& share : out.share)
        share /= static_cast<double>(out.draws);

    // The period effect was estimated from the same rounds: one degree of freedom less.
    const double shrink = std::sqrt((n - 2) / (n - 1));
    for (std::size_t i = 0; i < k; ++i) {
        double beaten_by = -kInfinity;
        for (std::size_t j = 0; j < k; ++j) {
            if (j == i) continue;
            beaten_by = std::max(
                beaten_by, studentised(seen.mean[j] - seen.mean[i], seen.error(i, j, n)) * shrink);
        }
        out.candidate.push_back(i == out.best || beaten_by <= quantile(greatest[i], confidence));
    }
    return out;
}

}  // namespace vsb::stats
