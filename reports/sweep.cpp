#include "reports/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <stdexcept>

#include "reports/escape.h"
#include "reports/facts.h"
#include "reports/figures.h"
#include "reports/plot_style.h"
#include "reports/tables.h"
#include "reports/workload_name.h"

namespace vsb::reports {
namespace {

using Value = std::pair<std::string, std::string>;

// "max-pkts=8,flows=2" and the payload, as the names and values of a point.
std::vector<Value> values_of(const std::string& workload) {
    const WorkloadName name = parse_workload(workload);
    std::vector<Value> values{{"payload", name.payload}};
    for (std::size_t start = 0; start < name.point.size();) {
        const std::size_t end = std::min(name.point.find(',', start), name.point.size());
        const std::string item = name.point.substr(start, end - start);
        const std::size_t equals = item.find('=');
        values.emplace_back(item.substr(0, equals), item.substr(equals + 1));
        start = end + 1;
    }
    return values;
}

std::string value_of(const std::vector<Value>& values, const std::string& name) {
    const auto at = std::ranges::find(values, name, &Value::first);
    return at == values.end() ? "-" : at->second;
}

// The parameters that take more than one value among the rows.
void find_axes(Sweep& sweep) {
    std::vector<SweepAxis> all;
    for (const SweepPoint& point : sweep.points) {
        for (const auto& [name, value] : values_of(point.row->workload)) {
            auto axis = std::ranges::find(all, name, &SweepAxis::name);
            if (axis == all.end()) axis = all.insert(all.end(), {name, {}});
            if (std::ranges::find(axis->values, value) == axis->values.end()) {
                axis->values.push_back(value);
            }
        }
    }
    for (SweepAxis& axis : all) {
        if (axis.values.size() > 1) {
            sweep.axes.push_back(std::move(axis));
        } else {
            const bool payload = axis.name == "payload";
            sweep.fixed += (sweep.fixed.empty() ? "" : ", ") +
                           (payload ? axis.values[0] : axis.name + "=" + axis.values[0]);
        }
    }
    for (SweepPoint& point : sweep.points) {
        const std::vector<Value> values = values_of(point.row->workload);
        for (const SweepAxis& axis : sweep.axes)
            point.at.push_back(value_of(values, axis.name));
    }
}

// A row's pairs by the number that the schedule gave them: its round.
std::map<std::int64_t, stats::Pair> pairs_of(std::span<const datasets::PairedSeries> series,
                                             const Row& row) {
    std::map<std::int64_t, stats::Pair> pairs;
    for (const datasets::PairedSeries& s : series) {
        if (s.workload != row.workload || s.metric != row.metric || s.unit != row.unit) continue;
        for (const datasets::PairedValue& v : s.pairs) {
            const bool ab = v.order == datasets::PairOrder::ab;
            pairs[v.pair] = {v.a, v.b, ab ? stats::Order::ab : stats::Order::ba};
        }
    }
    return pairs;
}

void find_best(const Comparison& comparison, std::span<const datasets::PairedSeries> series,
               std::uint64_t seed, Sweep& sweep) {
    if (comparison.interim) {
        sweep.no_best = "the run is under way";
        return;
    }
    std::vector<std::map<std::int64_t, stats::Pair>> by_round;
    std::int64_t rounds = 0;
    for (const SweepPoint& point : sweep.points) {
        by_round.push_back(pairs_of(series, *point.row));
        if (!by_round.back().empty()) rounds = std::max(rounds, by_round.back().rbegin()->first);
    }
    std::vector<stats::PointRounds> points;
    for (const auto& pairs : by_round) {
        stats::PointRounds& point =
            points.emplace_back(static_cast<std::size_t>(std::max<std::int64_t>(rounds, 0)));
        for (const auto& [round, pair] : pairs) {
            if (round >= 1) point[static_cast<std::size_t>(round - 1)] = pair;
        }
    }
    try {
        sweep.best = stats::best_point(points, sweep.points.front().row->result.better,
                                       comparison.confidence, seed);
    } catch (const std::invalid_argument& error) {
        sweep.no_best = error.what();
    }
}

bool plain(const std::string& name) {
    return name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
}

// "64K" as a number; nothing for what is none.
std::optional<double> number_of(const std::string& value) {
    std::size_t digits = 0;
    double number = 0;
    for (; digits < value.size() && value[digits] >= '0' && value[digits] <= '9'; ++digits)
        number = number * 10 + (value[digits] - '0');
    if (digits == 0 || digits > 15) return {};
    if (digits == value.size()) return number;
    const std::size_t power = std::string_view("BKMG").find(value[digits]);
    if (power == std::string_view::npos || digits + 1 != value.size()) return {};
    return number * std::pow(1024, static_cast<double>(power));
}

}  // namespace

bool has_points(const Comparison& comparison) {
    return std::ranges::any_of(comparison.rows, [](const Row& row) {
        return !parse_workload(row.workload).point.empty();
    });
}

std::vector<Sweep> sweeps(const Comparison& comparison,
                          std::span<const datasets::PairedSeries> series, std::uint64_t seed) {
    std::vector<Sweep> out;
    for (const Table& table : tables(comparison)) {
        if (!table.headline || table.kind.empty()) continue;
        Sweep sweep;
        sweep.kind = table.kind;
        sweep.metric = table.metric;
        sweep.unit = table.unit;
        sweep.model = comparison.record && is_model(*comparison.record);
        for (const TableRow& entry : table.rows)
            sweep.points.push_back({entry.row, entry.count, {}});
        find_axes(sweep);
        if (sweep.axes.empty()) continue;
        find_best(comparison, series, seed, sweep);
        out.push_back(std::move(sweep));
    }
    return out;
}

std::string point_text(const Sweep& sweep, std::size_t point) {
    std::string text;
    for (std::size_t i = 0; i < sweep.axes.size(); ++i) {
        text += (i == 0 ? "" : ", ") + sweep.axes[i].name + "=" + sweep.points[point].at[i];
    }
    return text;
}

std::string best_text(const Comparison& comparison, const Sweep& sweep) {
    if (!sweep.best) return fmt::format("where it is best is not known: {}", sweep.no_best);
    const stats::BestPoint& best = *sweep.best;
    const stats::Comparison& row = sweep.points[best.best].row->result;
    const bool higher = row.better == stats::Better::higher;
    std::string rivals;
    std::size_t n = 0;
    for (std::size_t p = 0; p < sweep.points.size(); ++p) {
        if (!best.candidate[p] || p == best.best) continue;
        rivals += fmt::format("{}{} ({})", n++ == 0 ? "" : "; ", point_text(sweep, p),
                              percent(sweep.points[p].row->result.change));
    }
    return fmt::format(
        "the {} change is at {} ({}), the {} in {:.0f}% of {} resamplings of the {} rounds (seed "
        "{}); {}",
        higher ? "greatest" : "lowest", point_text(sweep, best.best), percent(row.change),
        higher ? "greatest" : "lowest", 100 * best.share[best.best],
        grouped(static_cast<long long>(best.draws)), best.rounds, best.seed,
        n == 0 ? fmt::format("every other point is told from it at {}",
                             plain_percent(comparison.confidence))
               : fmt::format("not told from it at {} over all points at once: {}",
                             plain_percent(comparison.confidence), rivals));
}

Plot sweep_plot(const Sweep& sweep) {
    const std::size_t last = sweep.axes.size() - 1;
    const SweepAxis& axis = sweep.axes[last];
    // A scale where all values are numbers that differ by a factor of 8 or more; else just places.
    std::vector<double> xs;
    double least = 0;
    double most = 0;
    for (const std::string& value : axis.values) {
        const auto number = number_of(value);
        if (!number || *number <= 0) break;
        least = xs.empty() ? *number : std::min(least, *number);
        most = xs.empty() ? *number : std::max(most, *number);
        xs.push_back(*number);
    }
    const bool numbers = xs.size() == axis.values.size();
    const bool logarithmic = numbers && most / least >= 8;
    if (!numbers) {
        xs.clear();
        for (std::size_t i = 0; i < axis.values.size(); ++i)
            xs.push_back(static_cast<double>(i + 1));
    }
    std::vector<std::string> curves;  // titles, in order of first appearance
    std::vector<std::string> data;
    for (std::size_t p = 0; p < sweep.points.size(); ++p) {
        const SweepPoint& point = sweep.points[p];
        const stats::Comparison& r = point.row->result;
        if (!std::isfinite(r.change) || !std::isfinite(r.ci.low) || !std::isfinite(r.ci.high)) {
            continue;
        }
        std::string title;
        for (std::size_t i = 0; i < last; ++i)
            title += (i == 0 ? "" : ", ") + sweep.axes[i].name + "=" + point.at[i];
        const auto curve = std::ranges::find(curves, title);
        const auto c = static_cast<std::size_t>(curve - curves.begin());
        if (curve == curves.end()) {
            curves.push_back(title);
            data.emplace_back();
        }
        const auto place = std::ranges::find(axis.values, point.at[last]);
        const bool candidate = sweep.best && sweep.best->candidate[p];
        fmt::format_to(std::back_inserter(data[c]), "{}\t{:.9g}\t{:.6g}\t{:.6g}\t{:.6g}\t{}\n",
                       plot_label(point.at[last]),
                       xs[static_cast<std::size_t>(place - axis.values.begin())], r.change * 100,
                       r.ci.low * 100, r.ci.high * 100, candidate ? 1 : 0);
    }
    if (curves.empty()) return {};
    std::string script = plot_head(620, 340);
    script += fmt::format(
        "set ylabel '{}change of B against A, %' offset 1\nset format y '%+g'\nset xlabel '{}{}'\n"
        "set arrow 1 from graph 0, first 0 to graph 1, first 0 nohead lc rgb 'black' lw 1\n",
        sweep.model ? "MODEL: " : "", plain(axis.name) ? axis.name : "value",
        logarithmic ? " (log scale)" : "");
    if (logarithmic) {
        script +=
            fmt::format("set logscale x 2\nset xrange [{:.9g}:{:.9g}]\n", least / 1.3, most * 1.3);
    } else {
        const double low = *std::ranges::min_element(xs);
        const double high = *std::ranges::max_element(xs);
        const double pad = (high - low) * 0.06;
        script += fmt::format("set xrange [{:.9g}:{:.9g}]\n", low - pad, high + pad);
    }
    script += "set key autotitle columnhead\n";
    script += curves.size() == 1 ? "unset key\nplot " : "plot ";
    Plot plot;
    for (std::size_t c = 0; c < curves.size(); ++c) {
        const std::string file = fmt::format("curve{}.tsv", c + 1);
        const std::string_view color = kCurveColors[c % kCurveColors.size()];
        // The title is the heading of the third column of the first plot of the file.
        script += fmt::format(
            "{0}'{1}' using 2:3:xticlabels(1) with lines lw 1.6 lc rgb '{2}', "
            "'{1}' using 2:3:4:5 notitle with yerrorbars pt 6 ps 0.9 lw 1.2 lc rgb '{2}', "
            "'{1}' using ($6==1?$2:1/0):3 notitle with points pt 7 ps 0.9 lc rgb '{2}'",
            c == 0 ? "" : ", ", file, color);
        plot.data.push_back(
            {file,
             fmt::format("at\tx\t{}\tlow\thigh\tcandidate\n", plot_label(curves[c])) + data[c]});
    }
    plot.script = script + "\n";
    return plot;
}

}  // namespace vsb::reports
