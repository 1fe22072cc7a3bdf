#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "datasets/store.h"
#include "harness/cli/command.h"
#include "harness/cli/common_options.h"
#include "harness/cli/failure.h"
#include "harness/cli/output.h"
#include "harness/cli/scatter.h"
#include "harness/value_text.h"
#include "reports/escape.h"
#include "reports/figures.h"
#include "reports/grid.h"
#include "stats/planning.h"
#include "stats/tost_power.h"

namespace vsb::cli {
namespace {

using nlohmann::ordered_json;
using reports::plain_percent;

struct PlanCommand {
    std::string sd;
    std::string from;
    std::string half_width;
    std::string change;
    std::string margin;
    std::string pairs;
    std::string power = "80%";
    std::string confidence = "95%";
    std::string assurance = "80%";
    StoreOption store;
    FormatOption format;
};

// What was asked, checked.
struct Question {
    std::optional<double> half_width;
    std::optional<double> change;
    std::optional<double> margin;
    std::optional<std::size_t> pairs;
    double power = 0.80;
    double confidence = 0.95;
    double assurance = 0.80;
};

// The scatter of one workload, or the one given.
struct Source {
    std::string workload;  // empty for --sd
    Scatter scatter;       // df 0: the sd is given, not estimated
};

// What was asked, answered; absent where it was not asked or cannot be answered (notes say why).
struct Answer {
    Source source;
    std::optional<std::size_t> pairs;          // for the half-width
    std::optional<std::size_t> pairs_assured;  // likewise, kept with the assurance
    std::optional<std::size_t> pairs_for_power;
    std::optional<std::size_t> equivalence_pairs;
    std::optional<double> half_width_at_pairs;
    std::optional<double> minimum_change_at_pairs;
    std::optional<double> power_at_pairs;
    std::optional<double> equivalence_power_at_pairs;
    std::vector<std::string> notes;
};

double number_of(const char* option, const std::string& text, double above, double below) {
    double value = 0;
    try {
        value = harness::parse_fraction(text);
    } catch (const std::invalid_argument& error) {
        throw Failure(kUsage, std::string(option) + ": " + error.what());
    }
    if (value > above && value < below) return value;
    const std::string limits =
        std::isinf(below)
            ? "above " + plain_percent(above)
            : fmt::format("between {} and {}", plain_percent(above), plain_percent(below));
    throw Failure(kUsage, fmt::format("{}: '{}' is not {}", option, text, limits));
}

std::optional<double> optional_number(const char* option, const std::string& text, double above,
                                      double below) {
    if (text.empty()) return std::nullopt;
    return number_of(option, text, above, below);
}

Question question_of(const PlanCommand& options) {
    constexpr double kAny = std::numeric_limits<double>::infinity();
    Question q;
    q.half_width = optional_number("--halfwidth", options.half_width, 0, kAny);
    q.change = optional_number("--change", options.change, -1, kAny);
    q.margin = optional_number("--margin", options.margin, 0, kAny);
    q.power = number_of("--power", options.power, 0, 1);
    q.confidence = number_of("--confidence", options.confidence, 0, 1);
    q.assurance = number_of("--assurance", options.assurance, 0, 1);
    if (!options.pairs.empty()) {
        try {
            const std::uint64_t pairs = harness::parse_count(options.pairs);
            if (pairs < 4 || pairs > stats::kMostPlannedPairs || pairs % 2 != 0) {
                throw std::invalid_argument("'" + options.pairs + "' is not an even number from 4");
            }
            q.pairs = static_cast<std::size_t>(pairs);
        } catch (const std::invalid_argument& error) {
            throw Failure(kUsage, std::string("--pairs: ") + error.what());
        }
    }
    if (q.margin && q.confidence <= 0.5) {
        throw Failure(kUsage, "--margin: goes with a confidence above 50%, " + options.confidence +
                                  " was asked for");
    }
    if (q.change && !q.margin && *q.change == 0) {
        throw Failure(kUsage, "--change: no change is never found (give one, or a --margin)");
    }
    if (!q.half_width && !q.change && !q.margin && !q.pairs) {
        throw Failure(kUsage,
                      "plan: nothing is asked (give --halfwidth, --change, --margin or --pairs)");
    }
    return q;
}

std::vector<Source> sources_of(const PlanCommand& options) {
    if (options.sd.empty() == options.from.empty()) {
        throw Failure(kUsage, "plan: the scatter is needed once (give --sd or --from EXPERIMENT)");
    }
    if (!options.sd.empty()) {
        const double sd = number_of("--sd", options.sd, 0, std::numeric_limits<double>::infinity());
        return {{"", {sd, 0, 0}}};
    }
    const auto store = datasets::Store::open(options.store.file(), datasets::OpenMode::read_only);
    const auto record = store.find(options.from);
    std::vector<Source> sources;
    for (const auto& series : store.paired(record.id)) {
        const auto same = [&](const Source& s) { return s.workload == series.workload; };
        if (std::ranges::any_of(sources, same)) continue;  // the headline metric comes first
        sources.push_back({series.workload, scatter_of(series).value_or(Scatter{-1, 0, 0})});
    }
    if (sources.empty()) {
        throw Failure(kUsage, "--from: experiment " + std::to_string(record.id) +
                                  " holds no whole pair (choose another one)");
    }
    return sources;
}

Answer answer(const Source& source, const Question& q) {
    Answer out{source, {}, {}, {}, {}, {}, {}, {}, {}, {}};
    const double sd = source.scatter.sd;
    if (!(sd > 0)) {
        out.notes.emplace_back(sd == 0 ? "its pairs do not scatter: nothing to plan from"
                                       : "has no two pairs with a ratio");
        return out;
    }
    const auto ask = [&](auto& into, const auto& compute) {
        try {
            into = compute();
        } catch (const std::invalid_argument& error) {
            const std::string why = error.what();
            if (std::ranges::find(out.notes, why) == out.notes.end()) out.notes.push_back(why);
        }
    };
    const double df = source.scatter.df;
    if (q.half_width) {
        ask(out.pairs,
            [&] { return stats::pairs_for_half_width(sd, *q.half_width, q.confidence); });
        ask(out.pairs_assured, [&] {
            return df > 0 ? stats::pairs_for_half_width_estimated(sd, df, *q.half_width,
                                                                  q.confidence, q.assurance)
                          : stats::pairs_for_half_width_assured(sd, *q.half_width, q.confidence,
                                                                q.assurance);
        });
    }
    if (q.change && *q.change != 0) {
        ask(out.pairs_for_power,
            [&] { return stats::pairs_for_power(*q.change, sd, q.power, q.confidence); });
    }
    std::optional<stats::TostPlan> tost;
    if (q.margin) {
        tost = stats::TostPlan{sd, 1 + q.change.value_or(0), 1 / (1 + *q.margin), 1 + *q.margin,
                               1 - q.confidence};
        ask(out.equivalence_pairs, [&] { return stats::pairs_for_tost(*tost, q.power); });
    }
    if (q.pairs) {
        const std::size_t n = *q.pairs;
        ask(out.half_width_at_pairs, [&] { return stats::half_width_of(n, sd, q.confidence); });
        ask(out.minimum_change_at_pairs,
            [&] { return stats::minimum_detectable_change(n, sd, q.power, q.confidence); });
        if (q.change) {
            ask(out.power_at_pairs,
                [&] { return stats::power_of(n, *q.change, sd, q.confidence); });
        }
        if (tost) ask(out.equivalence_power_at_pairs, [&] { return stats::tost_power(*tost, n); });
    }
    return out;
}

template <typename T>
ordered_json or_null(const std::optional<T>& value) {
    return value ? ordered_json(*value) : ordered_json(nullptr);
}

// Over the rows: what serves them all; absent where one row has none.
std::optional<std::size_t> most(const std::vector<Answer>& answers,
                                std::optional<std::size_t> Answer::*figure) {
    std::optional<std::size_t> greatest = 0;
    for (const Answer& a : answers) {
        if (!(a.source.scatter.sd > 0)) continue;  // the notes say that it has none
        if (!(a.*figure)) return std::nullopt;
        greatest = std::max(*greatest, *(a.*figure));
    }
    return *greatest == 0 ? std::nullopt : greatest;
}

std::string as_json(const PlanCommand& options, const Question& q,
                    const std::vector<Answer>& answers) {
    ordered_json out;
    out["schema"] = "vsockbench.plan/1";
    out["from"] = options.from.empty() ? ordered_json(nullptr) : ordered_json(options.from);
    out["halfwidth"] = or_null(q.half_width);
    out["change"] = or_null(q.change);
    out["margin"] = or_null(q.margin);
    out["at_pairs"] = or_null(q.pairs);
    out["power"] = q.power;
    out["confidence"] = q.confidence;
    out["assurance"] = q.assurance;
    out["pairs"] = or_null(most(answers, &Answer::pairs));
    out["pairs_assured"] = or_null(most(answers, &Answer::pairs_assured));
    out["pairs_for_power"] = or_null(most(answers, &Answer::pairs_for_power));
    out["equivalence_pairs"] = or_null(most(answers, &Answer::equivalence_pairs));
    out["rows"] = ordered_json::array();
    for (const Answer& a : answers) {
        const Scatter& s = a.source.scatter;
        ordered_json row;
        row["workload"] =
            a.source.workload.empty() ? ordered_json(nullptr) : ordered_json(a.source.workload);
        row["sd"] = s.sd < 0 ? ordered_json(nullptr) : ordered_json(s.sd);
        row["sd_df"] = s.df > 0 ? ordered_json(s.df) : ordered_json(nullptr);
        row["pairs"] = or_null(a.pairs);
        row["pairs_assured"] = or_null(a.pairs_assured);
        row["pairs_for_power"] = or_null(a.pairs_for_power);
        row["equivalence_pairs"] = or_null(a.equivalence_pairs);
        row["halfwidth_at_pairs"] = or_null(a.half_width_at_pairs);
        row["minimum_change_at_pairs"] = or_null(a.minimum_change_at_pairs);
        row["power_at_pairs"] = or_null(a.power_at_pairs);
        row["equivalence_power_at_pairs"] = or_null(a.equivalence_power_at_pairs);
        row["notes"] = a.notes;
        out["rows"].push_back(std::move(row));
    }
    return out.dump(2, ' ', true, ordered_json::error_handler_t::replace) + "\n";
}

std::string count_text(const std::optional<std::size_t>& n) {
    return n ? std::to_string(*n) : "-";
}

// A figure to three digits, so that 1.0734% is not taken for more than a plan.
std::string rounded(const std::optional<double>& fraction) {
    return fraction ? fmt::format("{:.3g}%", 100 * *fraction) : "-";
}

std::string chance(const std::optional<double>& p) {
    if (!p) return "-";
    if (*p > 0.9995 && *p < 1) return ">99.9%";
    return fmt::format("{:.1f}%", 100 * *p);
}

std::string one_text(const Question& q, const Answer& a, std::size_t columns) {
    std::string out = fmt::format("pairs whose log ratios have sd {}; {} intervals\n",
                                  plain_percent(a.source.scatter.sd), plain_percent(q.confidence));
    const auto line = [&](const std::string& text) {
        out += reports::wrap(text, columns, "  ", "    ");
    };
    if (q.half_width && a.pairs) {
        line(fmt::format("half-width {}: {} pairs; {} keep it with {} assurance",
                         plain_percent(*q.half_width), *a.pairs, count_text(a.pairs_assured),
                         plain_percent(q.assurance)));
    }
    if (a.pairs_for_power) {
        line(fmt::format("change {}: {} pairs find it with {} power", reports::percent(*q.change),
                         *a.pairs_for_power, plain_percent(q.power)));
    }
    if (a.equivalence_pairs) {
        line(
            fmt::format("margin {}: {} pairs show equivalence with {} power where the change is {}",
                        plain_percent(*q.margin), *a.equivalence_pairs, plain_percent(q.power),
                        reports::percent(q.change.value_or(0))));
    }
    if (q.pairs) {
        line(fmt::format("{} pairs: half-width {}; least increase found with {} power {}", *q.pairs,
                         rounded(a.half_width_at_pairs), plain_percent(q.power),
                         rounded(a.minimum_change_at_pairs)));
        if (q.change && *q.change != 0) {
            line(fmt::format("{} pairs find {} with {} power", *q.pairs,
                             reports::percent(*q.change), chance(a.power_at_pairs)));
        }
        if (q.margin) {
            line(fmt::format("{} pairs show equivalence within {} with {} power", *q.pairs,
                             plain_percent(*q.margin), chance(a.equivalence_power_at_pairs)));
        }
    }
    return out;
}

std::string table_text(const PlanCommand& options, const Question& q,
                       const std::vector<Answer>& answers, std::size_t columns) {
    using reports::Align;
    reports::Grid grid;
    std::vector<std::function<std::string(const Answer&)>> cells;
    const auto column = [&](const std::string& head, Align align, auto cell) {
        grid.columns.push_back({head, align, 0});
        cells.emplace_back(cell);
    };
    column("workload", Align::left,
           [](const Answer& a) { return reports::shorten(reports::ascii(a.source.workload), 40); });
    column("sd", Align::right, [](const Answer& a) {
        return a.source.scatter.sd < 0 ? "-" : fmt::format("{:.3g}%", 100 * a.source.scatter.sd);
    });
    column("from\npairs", Align::right,
           [](const Answer& a) { return std::to_string(a.source.scatter.pairs); });
    if (q.half_width) {
        const std::string width = plain_percent(*q.half_width);
        column("pairs for\n+-" + width, Align::right,
               [](const Answer& a) { return count_text(a.pairs); });
        column(plain_percent(q.assurance) + "\nassured", Align::right,
               [](const Answer& a) { return count_text(a.pairs_assured); });
    }
    if (q.change && *q.change != 0) {
        column("pairs to find\n" + reports::percent(*q.change), Align::right,
               [](const Answer& a) { return count_text(a.pairs_for_power); });
    }
    if (q.margin) {
        column("pairs for\nmargin " + plain_percent(*q.margin), Align::right,
               [](const Answer& a) { return count_text(a.equivalence_pairs); });
    }
    if (q.pairs) {
        const std::string n = fmt::format("at {} pairs:\n", *q.pairs);
        column(n + "half-width", Align::right,
               [](const Answer& a) { return rounded(a.half_width_at_pairs); });
        column("least\nfound", Align::right,
               [](const Answer& a) { return rounded(a.minimum_change_at_pairs); });
        if (q.change && *q.change != 0) {
            column("power", Align::right, [](const Answer& a) { return chance(a.power_at_pairs); });
        }
        if (q.margin) {
            column("power,\nmargin", Align::right,
                   [](const Answer& a) { return chance(a.equivalence_power_at_pairs); });
        }
    }
    for (const Answer& a : answers) {
        std::vector<std::string> row;
        for (const auto& cell : cells)
            row.push_back(cell(a));
        grid.rows.push_back(std::move(row));
    }
    std::string out = reports::wrap(
        fmt::format("planned from experiment {}: {} intervals, {} power{}", options.from,
                    plain_percent(q.confidence), plain_percent(q.power),
                    q.margin
                        ? fmt::format(", true change {}", reports::percent(q.change.value_or(0)))
                        : ""),
        columns);
    out += reports::draw(grid, columns).text;
    if (q.half_width) {
        out += reports::wrap(
            fmt::format(
                "all rows: {} pairs, assured {} (which allows for the sd being an estimate)",
                count_text(most(answers, &Answer::pairs)),
                count_text(most(answers, &Answer::pairs_assured))),
            columns, "  ", "    ");
    }
    return out;
}

int plan(const PlanCommand& options) {
    const std::string format = options.format.chosen();
    const Question question = question_of(options);
    std::vector<Answer> answers;
    for (const Source& source : sources_of(options))
        answers.push_back(answer(source, question));
    if (answers.size() == 1 && answers[0].source.workload.empty() && !answers[0].notes.empty()) {
        throw Failure(kUsage, answers[0].notes.front());
    }
    if (format == "json") {
        write_result(as_json(options, question, answers));
        return kDone;
    }
    const std::size_t columns = std::max<std::size_t>(stdout_columns(), 60);
    std::string text = options.from.empty() ? one_text(question, answers.front(), columns)
                                            : table_text(options, question, answers, columns);
    for (const Answer& a : answers) {
        for (const std::string& note : a.notes) {
            text += reports::wrap(reports::ascii(a.source.workload) + ": " + note, columns, "  - ",
                                  "    ");
        }
    }
    write_result(text);
    return kDone;
}

}  // namespace

Command add_plan(CLI::App& program) {
    auto options = std::make_shared<PlanCommand>();
    CLI::App* app =
        program.add_subcommand("plan", "pairs needed, power, and the least change that is found");
    app->add_option("--sd", options->sd,
                    "standard deviation of the pairs' log ratios, as 2% (about sqrt(2) times a "
                    "run's own)")
        ->type_name("X|N%");
    app->add_option("--from", options->from, "take it, workload by workload, from a recorded run")
        ->type_name("EXPERIMENT");
    app->add_option("--halfwidth", options->half_width, "pairs for an interval of +- this")
        ->type_name("X|N%");
    app->add_option("--change", options->change, "pairs to find this change, as 1% or -1%")
        ->type_name("X|N%");
    app->add_option("--margin", options->margin,
                    "pairs to show equivalence within this (true change: --change, else 0)")
        ->type_name("X|N%");
    app->add_option("--pairs", options->pairs, "what this many pairs give")->type_name("N");
    app->add_option("--power", options->power, "chance to find what is there (80%)")
        ->type_name("X|N%");
    app->add_option("--confidence", options->confidence, "of the intervals (95%)")
        ->type_name("X|N%");
    app->add_option("--assurance", options->assurance, "chance that the half-width is kept (80%)")
        ->type_name("X|N%");
    options->store.add_to(*app);
    options->format.add_to(*app, {"text", "json"});
    app->footer(
        "Examples:\n"
        "  vsockbench plan --sd 2% --halfwidth 1%\n"
        "  vsockbench plan --from last --change 1% --margin 2% --pairs 32");
    return {app, [options] { return plan(*options); }};
}

}  // namespace vsb::cli
