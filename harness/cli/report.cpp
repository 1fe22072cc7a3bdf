#include <memory>
#include <stdexcept>

#include "datasets/published.h"
#include "datasets/store.h"
#include "harness/cli/command.h"
#include "harness/cli/common_options.h"
#include "harness/cli/failure.h"
#include "harness/cli/output.h"
#include "harness/cli/page.h"
#include "harness/cli/recorded.h"
#include "harness/value_text.h"
#include "reports/published.h"
#include "reports/series_letter.h"

namespace vsb::cli {
namespace {

struct ReportOptions {
    std::vector<std::string> experiments;
    std::string states;
    std::string file;
    StoreOption store;
    FormatOption format;
    StatisticsOptions statistics;
};

constexpr std::string_view kPublished = "published:";

std::string published_names() {
    std::string names;
    for (const datasets::PublishedFile& file : datasets::published_files())
        names += (names.empty() ? "" : ", ") + std::string(file.name);
    return names;
}

// Tables of a published series, as printed.
int report_published(const ReportOptions& options, const std::string& format) {
    const std::string name = options.experiments.front().substr(kPublished.size());
    const datasets::PublishedFile* const file = datasets::find_published(name);
    if (file == nullptr) {
        throw Failure(
            kUsage, "published: '" + name + "' is unknown (choose from " + published_names() + ")");
    }
    if (format == "csv") {
        write_result(file->csv, options.file);
        return kDone;
    }
    if (format != "cover-letter" && format != "text") {
        throw Failure(kUsage, "--format: published figures have no " + format +
                                  " (choose from cover-letter, text, csv)");
    }
    const auto series = datasets::parse_published(file->name, file->csv);
    say("published: " + series.series + ", " + series.posted);
    write_result(reports::published_tables(series), options.file);
    return kDone;
}

// "baseline:P1-P5,P1-P3:P1-P5" -> the names of each experiment's states.
std::vector<std::pair<std::string, std::string>> state_names(const ReportOptions& options) {
    std::vector<std::pair<std::string, std::string>> names;
    for (const std::string& item : harness::split_list(options.states)) {
        const auto colon = item.find(':');
        if (colon == std::string::npos) {
            throw Failure(kUsage,
                          "--states: '" + item +
                              "' is not A:B (as in baseline:P1-P5, one for each experiment)");
        }
        names.emplace_back(item.substr(0, colon), item.substr(colon + 1));
    }
    if (names.size() != options.experiments.size()) {
        throw Failure(kUsage, "--states: names the states of " + std::to_string(names.size()) +
                                  " experiments, and there are " +
                                  std::to_string(options.experiments.size()) +
                                  " (give A:B for each, as in --states "
                                  "baseline:P1-P5,baseline:P1-P3,P1-P3:P1-P5)");
    }
    return names;
}

// Several experiments as the cover letter of one series.
int report_series(const ReportOptions& options, const std::string& format,
                  const reports::CompareOptions& statistics) {
    if (format != "cover-letter") {
        throw Failure(kUsage,
                      "--format: several experiments, or named states, make a cover letter, "
                      "no " +
                          format + " (report each by itself)");
    }
    const auto names = state_names(options);
    const auto store = datasets::Store::open(options.store.file(), datasets::OpenMode::read_only);
    std::vector<reports::SeriesPart> parts;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto record = store.find(options.experiments[i]);
        parts.push_back(
            {compare_recorded(store, record, statistics), names[i].first, names[i].second});
    }
    std::string letter;
    try {
        letter = reports::series_letter(parts);
    } catch (const std::invalid_argument& error) {
        throw Failure(kUsage, std::string("--states: ") + error.what());
    }
    write_result(letter, options.file);
    return kDone;
}

int report(const ReportOptions& options) {
    const std::string format = options.format.chosen();
    const reports::CompareOptions statistics = options.statistics.parsed();
    for (const std::string& experiment : options.experiments) {
        if (!experiment.starts_with(kPublished)) continue;
        if (options.experiments.size() > 1 || !options.states.empty()) {
            throw Failure(kUsage, experiment + ": goes with no other experiment and no --states");
        }
        return report_published(options, format);
    }
    if (options.experiments.size() > 1 || !options.states.empty()) {
        return report_series(options, format, statistics);
    }
    const auto store = datasets::Store::open(options.store.file(), datasets::OpenMode::read_only);
    const auto record = store.find(options.experiments.front());
    const auto comparison = compare_recorded(store, record, statistics);
    write_result(
        format == "html" ? recorded_page(store, record, comparison) : rendered(comparison, format),
        options.file);
    return kDone;
}

}  // namespace

Command add_report(CLI::App& program) {
    auto options = std::make_shared<ReportOptions>();
    CLI::App* app = program.add_subcommand("report", "an experiment as text to send or to keep");
    app->add_option("EXPERIMENT", options->experiments,
                    "its id, `last`, or published:NAME; several make the letter of a patch series")
        ->required();
    app->add_option("--states", options->states,
                    "what each experiment's states are called in the letter of a series")
        ->type_name("A:B,...");
    app->add_option("-o,--output", options->file, "write it here instead of stdout")
        ->type_name("FILE");
    options->store.add_to(*app);
    options->format.add_to(
        *app, {"cover-letter", "markdown", "csv", "json", "html", "ktap", "junit", "text"});
    options->statistics.add_to(*app);
    app->footer(
        "Published tables, rendered back as printed (published:NAME): " + published_names() +
        "\n\nExamples:\n"
        "  vsockbench report last\n"
        "  vsockbench report 1 2 3 --states baseline:P1-P5,baseline:P1-P3,P1-P3:P1-P5");
    return {app, [options] { return report(*options); }};
}

}  // namespace vsb::cli
