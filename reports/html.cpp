#include "reports/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "reports/escape.h"
#include "reports/facts.h"
#include "reports/figures.h"
#include "reports/notes.h"
#include "reports/page.h"
#include "reports/plots.h"
#include "reports/table_grid.h"
#include "reports/tables.h"

namespace vsb::reports {
namespace {

std::string list_of(const std::vector<Fact>& facts) {
    if (facts.empty()) return "";
    std::string out = "<dl>\n";
    for (const Fact& fact : facts) {
        out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", fact.label, page_text(fact.text));
    }
    return out + "</dl>\n";
}

std::string notes_html(const Comparison& comparison) {
    const std::vector<Note> all = notes(comparison);
    if (all.empty()) return "";
    std::string out = "<section class=\"notes\"><h2>Before you believe it</h2>\n<ul>\n";
    for (const Note& note : all) {
        out += fmt::format("<li{}>{}</li>\n", note.code == "interim" ? " class=\"interim\"" : "",
                           page_text(note.text));
    }
    return out + "</ul></section>\n";
}

std::string cell_html(const TableRow& entry, const Table& table, Cell cell) {
    const stats::Comparison& r = entry.row->result;
    switch (cell) {
        case Cell::payload:
            return fmt::format("<td>{}</td>", page_cell(entry.payload));
        case Cell::change:
            return fmt::format("<td>{} <span class=\"ci\">{}</span></td>", percent(r.change),
                               interval(r.ci));
        case Cell::verdict: {
            const std::string_view verdict = stats::verdict_name(r.verdict);
            return fmt::format("<td class=\"verdict {0}\">{0}</td>", verdict);
        }
        case Cell::simultaneous:
        case Cell::pairs:
        case Cell::p:
        case Cell::hodges_lehmann:
        case Cell::faster:
        case Cell::sign_p:
        case Cell::count:
        case Cell::beside:
            return fmt::format("<td class=\"less\">{}</td>",
                               html_text(cell_text(entry, table.unit, cell)));
        case Cell::a:
        case Cell::b:
            break;
    }
    return fmt::format("<td>{}</td>", cell_text(entry, table.unit, cell));
}

std::string head_html(const Comparison& comparison, const Table& table, Cell cell) {
    switch (cell) {
        case Cell::payload:
            return fmt::format("<th>{}</th>", table.kind.empty() ? "workload" : "payload");
        case Cell::a:
            return "<th>A</th>";
        case Cell::b:
            return "<th>B</th>";
        case Cell::change:
            return fmt::format("<th>change <span class=\"ci\">[{} CI]</span></th>",
                               plain_percent(comparison.confidence));
        case Cell::pairs:
            return "<th class=\"less\">AB+BA</th>";
        case Cell::p:
            return fmt::format("<th class=\"less\">{}</th>", p_head(comparison, table));
        case Cell::simultaneous:
            return "<th class=\"less\">all rows</th>";
        case Cell::hodges_lehmann:
            return "<th class=\"less\">Hodges-Lehmann</th>";
        case Cell::sign_p:
            return "<th class=\"less\">sign p</th>";
        case Cell::faster:
            return "<th class=\"less\">faster</th>";
        case Cell::count:
            return fmt::format("<th class=\"less\">{} A/B</th>", count_name(table));
        case Cell::beside:
            return fmt::format("<th class=\"less\">{} interval</th>", beside_name(table));
        case Cell::verdict:
            return "<th class=\"verdict\">verdict</th>";
    }
    return "";
}

std::string title_of(const Table& table) {
    std::string title = page_cell(table.kind);
    if (!table.metric.empty()) title += (title.empty() ? "" : ": ") + page_cell(table.metric);
    if (!table.unit.empty()) {
        title += fmt::format(" ({})", table.unit == "1" ? "count" : page_cell(table.unit));
    }
    const bool higher = table.rows.front().row->result.better == stats::Better::higher;
    if (!title.empty()) title += ", ";
    return fmt::format("{}{} is better", title, higher ? "higher" : "lower");
}

std::string table_html(const Comparison& comparison, const Table& table) {
    std::vector<Cell> cells = {Cell::payload, Cell::a,     Cell::b,
                               Cell::change,  Cell::pairs, Cell::faster};
    if (std::any_of(table.rows.begin(), table.rows.end(),
                    [](const TableRow& entry) { return entry.row->simultaneous.has_value(); })) {
        cells.insert(cells.begin() + 4, Cell::simultaneous);
    }
    if (!comparison.interim) cells.push_back(Cell::p);
    if (!count_name(table).empty()) cells.push_back(Cell::count);
    if (!beside_name(table).empty()) cells.insert(cells.begin() + 4, Cell::beside);
    if (!comparison.interim) cells.push_back(Cell::verdict);
    std::string out = "<div class=\"scroll\"><table>\n<thead><tr>";
    for (const Cell cell : cells)
        out += head_html(comparison, table, cell);
    out += "</tr></thead>\n<tbody>\n";
    for (const TableRow& entry : table.rows) {
        out += "<tr>";
        for (const Cell cell : cells)
            out += cell_html(entry, table, cell);
        out += "</tr>\n";
    }
    return out + "</tbody></table></div>\n";
}

std::string tables_html(const Comparison& comparison, Figures& figures) {
    std::string out;
    for (const Table& table : tables(comparison)) {
        const std::string figure = figures.figure(
            forest_plot(table, comparison.margin),
            fmt::format("{}{} {}: change with its {} interval", model_tag(comparison), table.kind,
                        table.metric, plain_percent(comparison.confidence)));
        out += fmt::format("<section><h2>{}{}</h2>\n<div class=\"block\">{}{}</div></section>\n",
                           model_tag(comparison), title_of(table), table_html(comparison, table),
                           figure);
    }
    return out;
}

bool is_headline(const Comparison& comparison, const datasets::PairedSeries& series) {
    return std::any_of(comparison.rows.begin(), comparison.rows.end(), [&](const Row& row) {
        return row.headline && row.workload == series.workload && row.metric == series.metric;
    });
}

std::string section(const std::string& title, const std::string& figures) {
    if (figures.empty()) return "";
    return fmt::format("<section><h2>{}</h2>\n<div class=\"plots\">\n{}</div></section>\n", title,
                       figures);
}

std::string pairs_html(const Comparison& comparison, const HtmlExtras& extras, Figures& figures) {
    std::string out;
    for (const datasets::PairedSeries& series : extras.series) {
        if (!is_headline(comparison, series)) continue;
        out += figures.figure(
            pairs_plot(series),
            fmt::format("{}{} {}{}", model_tag(comparison), series.workload, series.metric,
                        series.unit.empty() ? "" : ", " + series.unit));
    }
    return section("Pair by pair", out);
}

std::string sweeps_html(const Comparison& comparison, const HtmlExtras& extras, Figures& figures) {
    std::string out;
    for (const Sweep& sweep : extras.sweeps) {
        std::string names;
        for (const SweepAxis& axis : sweep.axes)
            names += (names.empty() ? "" : ", ") + axis.name;
        const std::string fixed = sweep.fixed.empty() ? "" : ", " + sweep.fixed;
        const std::string caption = fmt::format(
            "{} {}{}: change with its {} interval; filled: the best and what is not "
            "told from it",
            sweep.kind, sweep.metric, fixed, plain_percent(comparison.confidence));
        out += fmt::format("<section><h2>{} over {}</h2>\n<p class=\"lead\">{}</p>\n{}</section>\n",
                           page_cell(sweep.kind), page_cell(names),
                           page_text(best_text(comparison, sweep)),
                           figures.figure(sweep_plot(sweep), caption));
    }
    return out;
}

std::string rtt_html(const HtmlExtras& extras, Figures& figures) {
    std::string out;
    for (const RttSamples& samples : extras.rtt) {
        out += figures.figure(ecdf_plot(samples), samples.workload);
    }
    return section("Round trips answered in time", out);
}

std::string batches_html(const HtmlExtras& extras, Figures& figures) {
    std::string out;
    for (const BatchSizes& sizes : extras.batch_sizes) {
        out += figures.figure(batch_plot(sizes), sizes.workload);
    }
    return section("Packets in one ownership of the socket", out);
}

std::string rest_html(const Comparison& comparison) {
    std::string rows;
    const auto add = [&](const auto& row, double a, double b, const std::string& change) {
        rows += fmt::format(
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
            page_cell(row.workload), page_cell(row.metric), page_cell(row.unit), mean(a, row.unit),
            mean(b, row.unit), change);
    };
    for (const Row* row : rows_left_out(comparison)) {
        add(*row, row->result.a, row->result.b, percent(row->result.change));
    }
    for (const MeansOnly& means : comparison.means)
        add(means, means.a, means.b, "-");
    if (rows.empty()) return "";
    return "<section><h2>Everything else that was counted</h2>\n<details><summary>Means of a "
           "trial; "
           "no change where a value is zero</summary>\n<div class=\"scroll\"><table><thead><tr>"
           "<th>workload</th><th>metric</th><th>unit</th><th>A</th><th>B</th><th>change</th></tr>"
           "</thead>\n<tbody>\n" +
           rows + "</tbody></table></div></details></section>\n";
}

std::string environment_html(const Comparison& comparison) {
    std::vector<Fact> facts = method_facts(comparison);
    for (Fact& fact : machine_facts(comparison))
        facts.push_back(std::move(fact));
    std::string out = "<section><h2>How and where</h2>\n" + list_of(facts);
    if (comparison.record && !comparison.record->environment.empty()) {
        out += "<details><summary>The environment as recorded</summary>\n<dl>\n";
        for (const auto& [key, value] : comparison.record->environment) {
            out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", page_cell(key), page_text(value));
        }
        out += "</dl></details>\n";
    }
    return out + "</section>\n";
}

}  // namespace

std::string html(const Comparison& comparison, const HtmlExtras& extras) {
    Figures figures(extras.plotter);
    const std::string name = comparison.experiment.empty() ? "comparison" : comparison.experiment;
    std::string body =
        fmt::format("<h1>{}{}</h1>\n<p class=\"lead\">{}</p>\n", model_tag(comparison),
                    page_cell(name), html_text(pairs_text(comparison)));
    body += notes_html(comparison);
    body += list_of(state_facts(comparison));
    if (comparison.rows.empty()) body += "<p>No rows: nothing to compare.</p>\n";
    std::string content = sweeps_html(comparison, extras, figures);
    content += tables_html(comparison, figures);
    content += pairs_html(comparison, extras, figures);
    content += rtt_html(extras, figures);
    content += batches_html(extras, figures);
    body += figures.notice() + content + rest_html(comparison) + environment_html(comparison);
    return page(model_tag(comparison) + name, body);
}

}  // namespace vsb::reports
