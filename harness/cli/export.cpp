#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <stdexcept>

#include "datasets/benchfmt.h"
#include "datasets/export.h"
#include "datasets/store.h"
#include "harness/cli/command.h"
#include "harness/cli/common_options.h"
#include "harness/cli/failure.h"
#include "harness/cli/output.h"
#include "reports/facts.h"

namespace vsb::cli {
namespace {

using datasets::Exported;
using datasets::Recorded;

struct ExportCommand {
    std::string experiment;
    std::string file;
    std::string state;
    std::string better;
    std::string origin;
    StoreOption store;
    std::string format = "csv";
};

constexpr std::array<const char*, 7> kFormats = {
    "csv", "jsonl", "google-benchmark", "benchfmt", "bmf", "github-action-benchmark", "kcidb"};

std::string format_list(const char* between) {
    std::string list;
    for (const char* format : kFormats)
        list += (list.empty() ? "" : between) + std::string(format);
    return list;
}

bool takes_state(const std::string& format) {
    return format == "google-benchmark" || format == "benchfmt" || format == "bmf" ||
           format == "github-action-benchmark";
}

void refuse(const char* option, const std::string& value, bool is_taken, const char* formats) {
    if (value.empty() || is_taken) return;
    throw Failure(kUsage, std::string(option) + ": is for " + formats + " (leave it out)");
}

// One file has one direction; where the headline metrics have but one, it is that.
datasets::Better direction(const ExportCommand& options, const Recorded& recorded) {
    if (options.better == "higher") return datasets::Better::higher;
    if (options.better == "lower") return datasets::Better::lower;
    if (!options.better.empty()) {
        throw Failure(kUsage, "--better: '" + options.better + "' is neither higher nor lower");
    }
    std::optional<bool> higher;
    std::string workload;
    for (const auto& series : recorded.series) {
        const bool headline = !higher || series.workload != workload;
        workload = series.workload;
        if (!headline) continue;
        if (higher && *higher != series.higher_is_better) {
            throw Failure(kUsage,
                          "--better: of some figures more is better, of others less, and a file "
                          "has one direction (make two: --better higher, --better lower)");
        }
        higher = series.higher_is_better;
    }
    return higher.value_or(true) ? datasets::Better::higher : datasets::Better::lower;
}

Exported exported(const ExportCommand& options, const std::string& format,
                  const Recorded& recorded) {
    if (format == "csv") return to_pairs_csv(recorded);
    if (format == "jsonl") return to_json_lines(recorded);
    if (format == "google-benchmark") return to_google_benchmark(recorded, options.state);
    if (format == "benchfmt") return to_benchfmt(recorded, options.state);
    if (format == "bmf") return to_bmf(recorded, options.state);
    if (format == "github-action-benchmark") {
        return to_github_action_benchmark(recorded, options.state, direction(options, recorded));
    }
    return to_kcidb(recorded, options.origin.empty() ? "vsockbench" : options.origin);
}

// These formats know no models: the workloads' names say it, in every line.
void label_model(Recorded& recorded) {
    const std::string label = "model/";
    for (auto& workload : recorded.experiment.workloads)
        workload.name.insert(0, label);
    for (auto& series : recorded.series)
        series.workload.insert(0, label);
}

int run_export(const ExportCommand& options) {
    const std::string& format = options.format;
    if (std::ranges::find(kFormats, format) == kFormats.end()) {
        throw Failure(kUsage, "--format: '" + format + "' is unknown (choose from " +
                                  format_list(", ") + ")");
    }
    refuse("--state", options.state, takes_state(format),
           "google-benchmark, benchfmt, bmf and github-action-benchmark");
    refuse("--better", options.better, format == "github-action-benchmark",
           "github-action-benchmark");
    refuse("--origin", options.origin, format == "kcidb", "kcidb");
    const auto store = datasets::Store::open(options.store.file(), datasets::OpenMode::read_only);
    Recorded recorded;
    recorded.experiment = store.find(options.experiment);
    const auto id = recorded.experiment.id;
    recorded.trials = store.trials(id, format == "jsonl");
    recorded.series = store.paired(id);
    if (reports::is_model(recorded.experiment)) label_model(recorded);
    const Exported result = exported(options, format, recorded);
    for (const std::string& what : result.left_out)
        say("vsockbench: note: left out: " + what);
    write_result(result.text, options.file);
    return kDone;
}

}  // namespace

Command add_export(CLI::App& program) {
    auto options = std::make_shared<ExportCommand>();
    CLI::App* app = program.add_subcommand("export", "an experiment in other programs' formats");
    app->add_option("EXPERIMENT", options->experiment, "its id, or `last`")->required();
    app->add_option("-o,--output", options->file, "write it here instead of stdout")
        ->type_name("FILE");
    app->add_option("--state", options->state, "only this state's figures (else all, by name)")
        ->type_name("LABEL");
    app->add_option("--better", options->better,
                    "github-action-benchmark: the figures of which this is better")
        ->type_name("higher|lower");
    app->add_option("--origin", options->origin, "kcidb: the CI system's name (vsockbench)")
        ->type_name("NAME");
    options->store.add_to(*app);
    app->add_option("--format", options->format, "what to write (csv)")
        ->type_name(format_list("|"));
    app->footer(
        "Examples:\n"
        "  vsockbench export last --format csv -o pairs.csv\n"
        "  vsockbench export 3 --format benchfmt | benchstat -col state -");
    return {app, [options] { return run_export(*options); }};
}

}  // namespace vsb::cli
