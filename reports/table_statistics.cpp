#include "reports/table_statistics.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "stats/adjust.h"
#include "stats/max_t.h"

namespace vsb::reports {
namespace {

using datasets::PairedSeries;

constexpr std::uint64_t kSeed = 1;

// The headline rows that a change was computed for, and their log ratios pair by pair: places with
// the same index were measured in the same round.
struct Family {
    std::vector<Row*> rows;
    std::vector<stats::TableRow> ratios;
};

const PairedSeries* series_of(std::span<const PairedSeries> series, const Row& row) {
    const auto at = std::find_if(series.begin(), series.end(), [&](const PairedSeries& s) {
        return s.workload == row.workload && s.metric == row.metric && s.pairs.size() >= 2;
    });
    return at == series.end() ? nullptr : &*at;
}

Family family_of(Comparison& comparison, std::span<const PairedSeries> series) {
    Family family;
    std::vector<const PairedSeries*> used;
    std::vector<std::int64_t> numbers;
    for (Row& row : comparison.rows) {
        if (!row.headline) continue;
        const PairedSeries* found = series_of(series, row);
        if (found == nullptr) continue;
        family.rows.push_back(&row);
        used.push_back(found);
        for (const auto& value : found->pairs)
            numbers.push_back(value.pair);
    }
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    for (const PairedSeries* one : used) {
        stats::TableRow ratios(numbers.size());
        for (const auto& value : one->pairs) {
            const auto at = std::lower_bound(numbers.begin(), numbers.end(), value.pair);
            ratios[static_cast<std::size_t>(at - numbers.begin())] =
                std::log(value.b) - std::log(value.a);
        }
        family.ratios.push_back(std::move(ratios));
    }
    return family;
}

void adjust_own_p(const Family& family, bool by_holm) {
    std::vector<double> p;
    for (const Row* row : family.rows)
        if (row->result.p) p.push_back(*row->result.p);
    const auto adjusted = by_holm ? stats::holm(p) : stats::benjamini_hochberg(p);
    std::size_t next = 0;
    for (Row* row : family.rows)
        if (row->result.p) row->p_adjusted = adjusted[next++];
}

void add_max_t(Comparison& comparison, const Family& family, const CompareOptions& options) {
    std::string unbounded;
    const stats::MaxT found = stats::max_t(family.ratios, options.confidence, kSeed);
    for (std::size_t r = 0; r < family.rows.size(); ++r) {
        Row& row = *family.rows[r];
        if (options.adjust == "maxt" && row.result.p && found.p[r]) {
            row.p_adjusted = std::max(*found.p[r], *row.result.p);
        }
        if (options.simultaneous) {
            const stats::LogInterval& all = found.intervals[r];
            row.simultaneous = stats::Interval{std::min(row.result.ci.low, std::expm1(all.low)),
                                               std::max(row.result.ci.high, std::expm1(all.high))};
            if (!std::isfinite(row.simultaneous->high)) {
                unbounded += (unbounded.empty() ? "" : ", ") + row.workload;
            }
        }
    }
    if (!unbounded.empty()) {
        comparison.warnings.push_back(
            {"simultaneous-unbounded",
             "so few pairs give no interval that holds for all rows at once: " + unbounded});
    }
}

// A vote for B is a row in which it is better, whichever way the metric points.
TableSign sign_of(const Family& family) {
    std::vector<stats::TableRow> towards_b = family.ratios;
    for (std::size_t r = 0; r < family.rows.size(); ++r) {
        if (family.rows[r]->result.better == stats::Better::higher) continue;
        for (auto& ratio : towards_b[r])
            if (ratio) ratio = -*ratio;
    }
    const stats::TableSign found = stats::table_sign_test(towards_b, kSeed);
    return {found.positive, found.rows, found.p};
}

}  // namespace

void add_table_statistics(Comparison& comparison, std::span<const PairedSeries> series,
                          const CompareOptions& options) {
    const bool own_p = options.adjust == "holm" || options.adjust == "bh";
    if (!own_p && options.adjust != "none" && options.adjust != "maxt") {
        throw std::invalid_argument("'" + options.adjust +
                                    "' is no adjustment (choose from none, holm, bh, maxt)");
    }
    comparison.adjust = options.adjust;
    const Family family = family_of(comparison, series);
    if (family.rows.empty()) return;
    if (own_p) adjust_own_p(family, options.adjust == "holm");
    if (options.adjust == "maxt" || options.simultaneous) add_max_t(comparison, family, options);
    if (family.rows.size() > 1) comparison.table_sign = sign_of(family);
}

}  // namespace vsb::reports
