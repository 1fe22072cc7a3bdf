#include "reports/history_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "reports/escape.h"
#include "reports/figures.h"
#include "reports/history_plot.h"
#include "reports/page.h"

namespace vsb::reports {
namespace {

constexpr std::size_t kMostNights = 100;  // in the table; all are in the CSV and the JSON
constexpr std::size_t kMostLeftOut = 100;

std::string date_html(const History& history, std::size_t night) {
    return html_text(date_of(history.nights[night].started));
}

std::string answer_html(const History& history) {
    std::string out =
        fmt::format("<p class=\"answer {}\">{}</p>\n", history.alarms.empty() ? "faster" : "slower",
                    html_text(state_text(history)));
    if (history.alarms.empty() && history.warnings.empty()) return out;
    out += "<section class=\"notes\"><h2>What to look at</h2>\n<ul>\n";
    for (const Alarm& alarm : history.alarms)
        out +=
            fmt::format("<li class=\"interim\">{}</li>\n", page_text(alarm_text(history, alarm)));
    for (const stats::Warning& warning : history.warnings)
        out += fmt::format("<li>{}</li>\n", page_text(warning.text));
    return out + "</ul></section>\n";
}

std::string last_change(const History& history, const HistoryWorkload& workload) {
    if (workload.gate.changes.empty()) return "<td class=\"less\">none</td>";
    const stats::ChangePoint& change = workload.gate.changes.back();
    const auto night = workload.points[workload.usable[change.index]].night;
    return fmt::format("<td class=\"less\">{} <span class=\"ci\">{}, p {}</span></td>",
                       percent(std::expm1(change.after - change.before)), date_html(history, night),
                       html_text(p_value(change.p)));
}

std::string workloads_html(const History& history) {
    std::string out = fmt::format(
        "<section><h2>Workloads</h2>\n<div class=\"scroll\"><table>\n<thead><tr><th>workload</th>"
        "<th class=\"less\">metric</th><th>newest night <span class=\"ci\">[{} CI]</span></th>"
        "<th>level</th><th class=\"less\">last change</th><th class=\"less\">nights to find {}</th>"
        "<th class=\"verdict\">gate</th></tr></thead>\n<tbody>\n",
        plain_percent(history.options.confidence), plain_percent(history.options.gate.margin));
    for (std::size_t w = 0; w < history.workloads.size(); ++w) {
        const HistoryWorkload& workload = history.workloads[w];
        const HistoryPoint& newest = workload.points.back();
        const bool tonight = newest.night + 1 == history.nights.size();
        const bool worse = std::ranges::any_of(
            history.alarms, [&](const Alarm& alarm) { return alarm.workload == w; });
        const std::string verdict = worse                      ? "worse"
                                    : workload.gate.step_armed ? "quiet"
                                                               : "too young";
        out += fmt::format(
            "<tr><td>{}</td><td class=\"less\">{}, {} is better</td><td>{} <span class=\"ci\">{}{}"
            "</span></td><td>{}</td>{}<td class=\"less\">{}</td><td class=\"verdict {}\">{}</td>"
            "</tr>\n",
            page_cell(workload.name), page_cell(workload.metric),
            workload.better == stats::Better::higher ? "higher" : "lower", percent(newest.change),
            interval(newest.ci), tonight ? "" : " on " + date_html(history, newest.night),
            workload.usable.empty() ? "-" : percent(std::expm1(workload.level)),
            last_change(history, workload),
            workload.gate.nights_needed ? std::to_string(*workload.gate.nights_needed) : "-",
            worse                      ? "slower"
            : workload.gate.step_armed ? "faster"
                                       : "inconclusive",
            verdict);
    }
    return out + "</tbody></table></div></section>\n";
}

std::string trends_html(const History& history, Figures& figures) {
    std::string out;
    for (std::size_t w = 0; w < history.workloads.size(); ++w) {
        const HistoryWorkload& workload = history.workloads[w];
        out += figures.figure(
            trend_plot(history, w),
            fmt::format("{} {}, {} is better", workload.name, workload.metric,
                        workload.better == stats::Better::higher ? "higher" : "lower"));
    }
    if (out.empty()) return "";
    return "<section><h2>Night by night</h2>\n<p class=\"lead\">Each night's change with its "
           "interval; lines: the levels of E-divisive; dotted: changes by PELT; red: an "
           "alarm.</p>\n<div class=\"plots\">\n" +
           out + "</div></section>\n";
}

std::string nights_html(const History& history) {
    const std::size_t first =
        history.nights.size() > kMostNights ? history.nights.size() - kMostNights : 0;
    std::string rows;
    for (const HistoryWorkload& workload : history.workloads) {
        for (auto point = workload.points.rbegin(); point != workload.points.rend(); ++point) {
            if (point->night < first) break;
            const HistoryNight& night = history.nights[point->night];
            fmt::format_to(std::back_inserter(rows),
                           "<tr><td>{}</td><td>{}</td><td>{} <span class=\"ci\">{}</span></td>"
                           "<td class=\"less\">{:.5f}</td><td class=\"less\">{}</td><td "
                           "class=\"less\">{}</td><td class=\"less\">{}</td></tr>\n",
                           page_cell(workload.name), html_text(date_of(night.started)),
                           percent(point->change), interval(point->ci), point->se, point->pairs,
                           night.experiment, page_cell(night.commit));
        }
    }
    if (rows.empty()) return "";
    const std::string which =
        first == 0 ? "" : fmt::format(", the newest {} (all: --format csv)", kMostNights);
    return fmt::format(
        "<section><h2>Figures</h2>\n<details><summary>Every night{}</summary>\n<div "
        "class=\"scroll\"><table><thead><tr><th>workload</th><th>night</th><th>change <span "
        "class=\"ci\">[{} CI]</span></th><th class=\"less\">SE(ln)</th><th "
        "class=\"less\">pairs</th><th class=\"less\">experiment</th><th "
        "class=\"less\">commit</th></tr></thead>\n<tbody>\n{}</tbody></table></div></details>"
        "</section>\n",
        which, plain_percent(history.options.confidence), rows);
}

std::string left_out_html(const History& history) {
    if (history.left_out.empty() && history.before_since == 0) return "";
    std::string out = "<section><h2>What was left out</h2>\n";
    if (history.before_since > 0) {
        out += fmt::format("<p>{} earlier nights were not asked for.</p>\n", history.before_since);
    }
    if (!history.left_out.empty()) {
        out += fmt::format(
            "<details><summary>{} experiment{}, as a whole or in part</summary>\n<dl>\n",
            history.left_out.size(), history.left_out.size() == 1 ? "" : "s");
        const std::size_t n = history.left_out.size();
        for (std::size_t i = n > kMostLeftOut ? n - kMostLeftOut : 0; i < n; ++i) {
            const LeftOut& left = history.left_out[i];
            out +=
                fmt::format("<dt>{}, experiment {}</dt><dd>{}</dd>\n",
                            html_text(date_of(left.started)), left.experiment, page_text(left.why));
        }
        out += "</dl></details>\n";
    }
    return out + "</section>\n";
}

std::string rule_html(const History& history) {
    const stats::NightGateOptions& gate = history.options.gate;
    return fmt::format(
        "<section><h2>How the gate decides</h2>\n<dl>\n<dt>baseline</dt><dd>A: {}, target {}</dd>\n"
        "<dt>step</dt><dd>a change point (E-divisive, {} nights a level at least, the last {} "
        "nights) that began within the last {} nights, with a present level worse than the one "
        "before it by more than {}</dd>\n<dt>drop</dt><dd>the newest night alone worse than the "
        "level before it by more than {}</dd>\n<dt>level</dt><dd>{} a night for all workloads and "
        "both questions together (Holm)</dd>\n{}</dl></section>\n",
        page_text(history.a_spec), page_text(history.target), gate.min_segment, gate.window,
        gate.look_back, plain_percent(gate.margin), plain_percent(gate.margin), gate.level,
        history.options.accepted.empty()
            ? ""
            : fmt::format("<dt>accepted</dt><dd>changes until {}</dd>\n",
                          page_text(history.options.accepted)));
}

}  // namespace

std::string history_html(const History& history, const Plotter& plotter) {
    Figures figures(plotter);
    std::string body =
        fmt::format("<h1>{}{}: history</h1>\n", history.target == "model" ? "MODEL: " : "",
                    page_cell(history.name));
    if (!history.nights.empty()) {
        body += fmt::format("<p class=\"lead\">{} nights, {} to {}</p>\n", history.nights.size(),
                            date_html(history, 0), date_html(history, history.nights.size() - 1));
    }
    body += answer_html(history) + workloads_html(history);
    const std::string trends = trends_html(history, figures);
    body += figures.notice() + trends + nights_html(history) + left_out_html(history) +
            rule_html(history);
    return page(history.name + ": history", body);
}

}  // namespace vsb::reports
