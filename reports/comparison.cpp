#include "reports/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "reports/table_statistics.h"
#include "stats/diagnostics.h"

namespace vsb::reports {
namespace {

using datasets::PairedSeries;
using stats::Warning;

std::vector<stats::Pair> pairs_of(const PairedSeries& series) {
    std::vector<stats::Pair> pairs;
    pairs.reserve(series.pairs.size());
    for (const datasets::PairedValue& value : series.pairs) {
        pairs.push_back(
            {value.a, value.b,
             value.order == datasets::PairOrder::ab ? stats::Order::ab : stats::Order::ba});
    }
    return pairs;
}

MeansOnly means_of(const PairedSeries& series) {
    MeansOnly means{series.workload, series.metric, series.unit, 0, 0};
    const auto n = static_cast<double>(series.pairs.size());
    // Divided before summing, so that values near the largest double do not overflow.
    for (const datasets::PairedValue& value : series.pairs) {
        means.a += value.a / n;
        means.b += value.b / n;
    }
    return means;
}

std::vector<Warning> losses_of(const PairedSeries& series) {
    std::vector<Warning> warnings;
    if (series.lost_a + series.lost_b > 0) {
        if (auto lost = stats::lost_runs(series.lost_a, series.lost_b)) {
            warnings.push_back(*std::move(lost));
        }
    }
    if (series.skipped > 0) {
        warnings.push_back(
            {"skipped-pairs",
             fmt::format("{} invalid pairs of the input were skipped, as asked", series.skipped)});
    }
    return warnings;
}

}  // namespace

Comparison compare(std::string experiment, std::span<const PairedSeries> series,
                   const CompareOptions& options) {
    Comparison out;
    out.experiment = std::move(experiment);
    out.method = options.method;
    out.confidence = options.confidence;
    out.margin = options.margin;
    std::set<std::string_view> seen;
    for (const PairedSeries& s : series) {
        const bool headline = seen.insert(s.workload).second;
        std::vector<Warning> losses = losses_of(s);
        if (s.pairs.size() < 2) {
            // Metrics of one workload lack the same pairs: once is enough.
            if (headline) {
                out.warnings.push_back(
                    {"too-few-pairs", fmt::format("{}: {} whole pairs, two are needed: no row",
                                                  s.workload, s.pairs.size())});
                for (Warning& loss : losses) {
                    loss.text = fmt::format("{}: {}", s.workload, loss.text);
                    out.warnings.push_back(std::move(loss));
                }
            }
            continue;
        }
        const bool positive = std::all_of(s.pairs.begin(), s.pairs.end(),
                                          [](const auto& p) { return p.a > 0 && p.b > 0; });
        if (!positive) {
            out.means.push_back(means_of(s));
            if (headline) {
                out.warnings.push_back(
                    {"no-ratio", fmt::format("{}: {} holds zero or negative values: means only, no "
                                             "change",
                                             s.workload, s.metric)});
            }
            continue;
        }
        stats::Options statistics;
        statistics.method = options.method;
        statistics.confidence = options.confidence;
        statistics.margin = options.margin;
        statistics.better = s.higher_is_better ? stats::Better::higher : stats::Better::lower;
        const auto compared = [&] {
            try {
                return stats::compare(pairs_of(s), statistics);
            } catch (const std::invalid_argument& error) {
                throw std::invalid_argument(fmt::format(
                    "{}{}{}: {}", s.workload, s.metric.empty() ? "" : " ", s.metric, error.what()));
            }
        };
        Row row{s.workload, s.metric, s.unit, headline, compared(), {}, {}, {}};
        if (headline && options.beside) {
            statistics.method = *options.beside;
            row.beside = compared();
        }
        row.result.warnings.insert(row.result.warnings.end(), losses.begin(), losses.end());
        out.rows.push_back(std::move(row));
    }
    add_table_statistics(out, series, options);
    return out;
}

void attach(Comparison& comparison, datasets::ExperimentRecord record) {
    constexpr std::string_view kPrefix = "warning.";  // environment keys of the run's own warnings
    for (const auto& [key, text] : record.environment) {
        if (key.rfind(kPrefix, 0) == 0) {
            comparison.warnings.push_back({key.substr(kPrefix.size()), text});
        }
    }
    comparison.interim = record.status == datasets::ExperimentStatus::running;
    if (record.status == datasets::ExperimentStatus::interrupted ||
        record.status == datasets::ExperimentStatus::failed) {
        comparison.warnings.push_back(
            {"not-finished",
             fmt::format("the experiment {}; {}{} pairs of each workload were planned",
                         record.status == datasets::ExperimentStatus::failed ? "failed in part"
                                                                             : "was interrupted",
                         record.environment.contains("plan.rule") ? "at most " : "",
                         record.pairs)});
    }
    comparison.record = std::move(record);
}

}  // namespace vsb::reports
