#include "reports/history_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/escape.h"
#include "reports/figures.h"
#include "reports/grid.h"

namespace vsb::reports {
namespace {

constexpr std::size_t kLongestName = 60;
constexpr std::size_t kLongestText = 400;

std::string name_of(const std::string& text) {
    return shorten(ascii(text), kLongestName);
}

std::string nights_grid(const History& history, const HistoryWorkload& workload,
                        std::size_t most_nights, std::size_t width) {
    Grid grid;
    grid.columns = {{"night", Align::left, 0},
                    {"change", Align::right, 0},
                    {plain_percent(history.options.confidence) + " CI", Align::right, 0},
                    {"SE(ln)", Align::right, 2},
                    {"pairs", Align::right, 1},
                    {"", Align::left, 3}};
    const auto& points = workload.points;
    const std::size_t first = points.size() > most_nights ? points.size() - most_nights : 0;
    for (std::size_t i = first; i < points.size(); ++i) {
        const HistoryPoint& point = points[i];
        std::string mark;
        for (const Alarm& alarm : history.alarms) {
            if (&history.workloads[alarm.workload] != &workload || alarm.first != point.night)
                continue;
            mark += alarm.kind == Alarm::Kind::step ? "<- step" : "<- drop";
        }
        grid.rows.push_back({ascii(date_of(history.nights[point.night].started)),
                             percent(point.change), interval(point.ci),
                             fmt::format("{:.5f}", point.se), fmt::format("{}", point.pairs),
                             mark});
    }
    return draw(grid, width).text;
}

std::string changes_text(const History& history, const HistoryWorkload& workload,
                         std::size_t width) {
    const auto describe = [&](const stats::ChangePoint& change) {
        const auto night = workload.points[workload.usable[change.index]].night;
        std::string text = fmt::format("{} {}", ascii(date_of(history.nights[night].started)),
                                       percent(std::expm1(change.after - change.before)));
        if (change.p) text += fmt::format(" (p {})", p_value(change.p));
        return text;
    };
    const auto list = [&](const char* method, const std::vector<stats::ChangePoint>& changes) {
        if (changes.empty()) return std::string();
        std::string text = std::string(method) + ": ";
        constexpr std::size_t kMost = 20;
        const std::size_t first = changes.size() > kMost ? changes.size() - kMost : 0;
        if (first > 0) text += fmt::format("{} earlier, ", first);
        for (std::size_t i = first; i < changes.size(); ++i)
            text += (i > first ? ", " : "") + describe(changes[i]);
        return wrap(text, width, "  ", "    ");
    };
    const std::string text =
        list("changes (E-divisive)", workload.gate.changes) + list("changes (PELT)", workload.pelt);
    return text.empty() ? "  no change of level found\n" : text;
}

std::string head_of(const HistoryWorkload& workload, std::size_t width) {
    std::string text =
        fmt::format("{} {}{}, {} is better", name_of(workload.name), name_of(workload.metric),
                    workload.unit.empty() ? "" : " (" + name_of(workload.unit) + ")",
                    workload.better == stats::Better::higher ? "higher" : "lower");
    if (!workload.usable.empty()) {
        text += fmt::format("; present level {}", percent(std::expm1(workload.level)));
    }
    return wrap(text, width, "", "  ");
}

}  // namespace

std::string history_text(const History& history, std::size_t width, std::size_t most_nights) {
    std::string text = wrap(fmt::format("{}{}: {}", history.target == "model" ? "MODEL: " : "",
                                        name_of(history.name), state_text(history)),
                            width, "", "  ");
    for (const Alarm& alarm : history.alarms)
        text +=
            wrap(shorten(ascii(alarm_text(history, alarm)), kLongestText), width, "  ! ", "    ");
    for (const stats::Warning& warning : history.warnings)
        text += wrap(shorten(ascii(warning.text), kLongestText), width, "  note: ", "    ");
    text += wrap(fmt::format("A: {} (the fixed baseline), target {}",
                             shorten(ascii(history.a_spec), kLongestText), name_of(history.target)),
                 width, "", "  ");
    for (const HistoryWorkload& workload : history.workloads) {
        text += "\n" + head_of(workload, width);
        text += nights_grid(history, workload, most_nights, width);
        text += changes_text(history, workload, width);
    }
    if (!history.left_out.empty() || history.before_since > 0) text += "\n";
    if (history.before_since > 0) {
        text += fmt::format("{} earlier nights were not asked for\n", history.before_since);
    }
    constexpr std::size_t kMost = 20;
    const std::size_t first = history.left_out.size() > kMost ? history.left_out.size() - kMost : 0;
    if (first > 0) text += fmt::format("left out: {} earlier ones, and\n", first);
    for (std::size_t i = first; i < history.left_out.size(); ++i) {
        const LeftOut& out = history.left_out[i];
        text +=
            wrap(fmt::format("left out: experiment {} of {}: {}", out.experiment,
                             ascii(date_of(out.started)), shorten(ascii(out.why), kLongestText)),
                 width, "", "  ");
    }
    return text;
}

std::string history_summary(const History& history) {
    std::string text = name_of(history.name);
    if (!history.nights.empty()) {
        const HistoryNight& tonight = history.nights.back();
        text +=
            fmt::format(" {} (experiment {})", ascii(date_of(tonight.started)), tonight.experiment);
    }
    text += ": " + state_text(history) + "\n";
    for (const Alarm& alarm : history.alarms)
        text += "  " + shorten(ascii(alarm_text(history, alarm)), kLongestText) + "\n";
    return text;
}

}  // namespace vsb::reports
