#include "reports/history_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "reports/plot_style.h"

namespace vsb::reports {
namespace {

constexpr std::size_t kMostPoints = 400;
constexpr double kDay = 86400;

// Seconds since 1970 of the "2026-11-30T02:00:00" that a time starts with; absent when it does not.
// gnuplot is given numbers only.
std::optional<double> seconds_of(const std::string& started) {
    const auto number = [&](std::size_t at, std::size_t length) {
        int value = 0;
        for (std::size_t i = at; i < at + length; ++i) {
            if (i >= started.size() || std::isdigit(static_cast<unsigned char>(started[i])) == 0)
                return -1;
            value = value * 10 + (started[i] - '0');
        }
        return value;
    };
    const std::chrono::year_month_day date{std::chrono::year{number(0, 4)},
                                           std::chrono::month{static_cast<unsigned>(number(5, 2))},
                                           std::chrono::day{static_cast<unsigned>(number(8, 2))}};
    const int hours = number(11, 2);
    const int minutes = number(14, 2);
    if (!date.ok() || number(0, 4) < 1970 || hours < 0 || minutes < 0) return std::nullopt;
    const auto days = std::chrono::sys_days{date}.time_since_epoch().count();
    return kDay * static_cast<double>(days) + 3600.0 * hours + 60.0 * minutes;
}

struct Dot {
    double when = 0;
    double change = 0;
    double low = 0;
    double high = 0;
};

std::vector<Dot> dots_of(const History& history, const HistoryWorkload& workload) {
    std::vector<Dot> dots;
    for (const HistoryPoint& point : workload.points) {
        const auto when = seconds_of(history.nights[point.night].started);
        if (!when || !plottable(point.change) || !plottable(point.ci.low) ||
            !plottable(point.ci.high)) {
            continue;
        }
        dots.push_back({*when, point.change, point.ci.low, point.ci.high});
    }
    return dots;
}

// Neighbours in one dot: their mean, and the mean of their bounds.
std::vector<Dot> thinned(const std::vector<Dot>& dots) {
    if (dots.size() <= kMostPoints) return dots;
    std::vector<Dot> out;
    for (std::size_t i = 0; i < kMostPoints; ++i) {
        const std::size_t begin = i * dots.size() / kMostPoints;
        const std::size_t end = (i + 1) * dots.size() / kMostPoints;
        const auto n = static_cast<double>(end - begin);
        Dot sum;
        for (std::size_t j = begin; j < end; ++j) {
            sum.when += dots[j].when / n;
            sum.change += dots[j].change / n;
            sum.low += dots[j].low / n;
            sum.high += dots[j].high / n;
        }
        out.push_back(sum);
    }
    return out;
}

}  // namespace

Plot trend_plot(const History& history, std::size_t index) {
    const HistoryWorkload& workload = history.workloads[index];
    const std::vector<Dot> all = dots_of(history, workload);
    if (all.empty()) return {};
    const auto when = [&](std::size_t gate_index) {
        const HistoryPoint& point = workload.points[workload.usable[gate_index]];
        return seconds_of(history.nights[point.night].started);
    };
    std::string nights;
    double low = all.front().change;
    double high = low;
    for (const Dot& dot : thinned(all)) {
        low = std::min(low, dot.low);
        high = std::max(high, dot.high);
        fmt::format_to(std::back_inserter(nights), "{:.0f}\t{:.6g}\t{:.6g}\t{:.6g}\n", dot.when,
                       dot.change * 100, dot.low * 100, dot.high * 100);
    }
    std::string levels;
    const auto& changes = workload.gate.changes;
    const std::size_t n = workload.usable.size();
    for (std::size_t i = 0; i < changes.size(); ++i) {
        const std::size_t begin =
            i == 0 ? n - std::min(n, history.options.gate.window) : changes[i - 1].index;
        const auto from = when(begin);
        const auto to = when(changes[i].index - 1);
        if (!from || !to) continue;
        fmt::format_to(std::back_inserter(levels), "{0:.0f}\t{2:.6g}\n{1:.0f}\t{2:.6g}\n\n", *from,
                       *to, std::expm1(changes[i].before) * 100);
    }
    if (n > 0) {
        const std::size_t begin =
            changes.empty() ? n - std::min(n, history.options.gate.window) : changes.back().index;
        const auto from = when(begin);
        const auto to = when(n - 1);
        if (from && to) {
            fmt::format_to(std::back_inserter(levels), "{0:.0f}\t{2:.6g}\n{1:.0f}\t{2:.6g}\n",
                           *from, *to, std::expm1(workload.level) * 100);
        }
    }
    const double first = all.front().when;
    const double last = std::max(all.back().when, first + kDay);
    const double pad = (last - first) * 0.02;
    const double room = std::max((high - low) * 0.05, 1e-6);
    std::string script = plot_head(520, 250);
    const double days = (last - first) / kDay;
    script += fmt::format(
        "set xdata time\nset timefmt '%s'\nset format x '{}'\nset xtics {:.0f}\n"
        "set xrange ['{:.0f}':'{:.0f}']\nset yrange [{:.6g}:{:.6g}]\nset format y '%+g'\n"
        "set ylabel 'B against A, %'\nunset key\n",
        days > 400 ? "%b %Y" : "%d %b", std::max(1.0, std::ceil(days / 5)) * kDay, first - pad,
        last + pad, (low - room) * 100, (high + room) * 100);
    int arrow = 1;
    const auto rule = [&](double at, std::string_view look) {
        script +=
            fmt::format("set arrow {} from '{:.0f}', graph 0 to '{:.0f}', graph 1 nohead {}\n",
                        arrow++, at, at, look);
    };
    const std::size_t most_rules = 60;
    for (std::size_t i = workload.pelt.size() - std::min(workload.pelt.size(), most_rules);
         i < workload.pelt.size(); ++i) {
        if (const auto at = when(workload.pelt[i].index)) {
            rule(*at - kDay / 2, fmt::format("lc rgb '{}' lw 1 dt 3", kOpen));
        }
    }
    for (const Alarm& alarm : history.alarms) {
        if (alarm.workload != index) continue;
        if (const auto at = seconds_of(history.nights[alarm.first].started)) {
            rule(*at - kDay / 2, fmt::format("lc rgb '{}' lw 1.5", kBad));
        }
    }
    script += fmt::format(
        "plot 'nights.tsv' using 1:2:3:4 with yerrorbars pt 7 ps 0.35 lw 0.7 lc rgb '{}'", kOpen);
    if (!levels.empty()) {
        script += fmt::format(", 'levels.tsv' using 1:2 with lines lw 2.2 lc rgb '{}'", kColorB);
    }
    return {script + "\n", {{"nights.tsv", nights}, {"levels.tsv", levels}}};
}

}  // namespace vsb::reports
