#pragma once
// When did the nightly result change? Two answers about a series of ln(B/A) against one fixed
// baseline, each night weighted by 1/SE^2.
//
// E-divisive: find the split with the greatest energy distance between its sides, keep it if a
// permutation within the present segments seldom gives a greater one (p = (1 + b)/(1 + B)), and go
// on in the parts. It sees any change of distribution and assumes none. Source: Matteson and James
// 2014, JASA 109:334. Each split here ends at its segment's end; the sums of distances are kept in
// a Fenwick tree over ranks, O(n log n) a series.
//
// PELT: the least penalised sum of weighted squares over all segmentations, exactly, in about
// linear time. It assumes changes of level. Nights scatter more than their SE says: the squares are
// divided by a robust estimate of that excess, from the differences of neighbours. Source: Killick,
// Fearnhead, Eckley 2012, JASA 107:1590; penalty 3 ln n as in Zhang and Siegmund 2007, Biometrics
// 63:22.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace vsb::stats {

struct Night {
    double log_ratio = 0;
    double se = 1;  // of log_ratio, above 0
};

// before, after: weighted means of the segments on both sides of the change, natural logs.
struct ChangePoint {
    std::size_t index = 0;  // the first night of the new level
    double before = 0;
    double after = 0;
    double se = 0;            // of after - before, by the nights' own SEs
    std::optional<double> p;  // E-divisive only
};

struct EDivisiveOptions {
    std::size_t min_segment = 5;  // nights, at least 2
    double alpha = 0.05;
    std::size_t permutations = 199;
    std::uint64_t seed = 1;
};

struct PeltOptions {
    std::size_t min_segment = 2;         // nights, at least 1
    std::optional<double> penalty = {};  // default 3 ln n
};

// Change points in the order of the nights; too short a series has none.
// Both throw std::invalid_argument: a value that is not finite, an se that is not finite and above
// 0, naming the night (the first is 1); options out of range.
std::vector<ChangePoint> e_divisive(std::span<const Night> nights,
                                    const EDivisiveOptions& options = {});
std::vector<ChangePoint> pelt(std::span<const Night> nights, const PeltOptions& options = {});

// The factor by which the nights' squared scatter exceeds what their SEs say; at least 1.
double excess_scatter(std::span<const Night> nights);

}  // namespace vsb::stats
