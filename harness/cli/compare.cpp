#include <algorithm>
#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>

#include "datasets/csv.h"
#include "datasets/store.h"
#include "harness/cli/command.h"
#include "harness/cli/common_options.h"
#include "harness/cli/failure.h"
#include "harness/cli/gate.h"
#include "harness/cli/output.h"
#include "harness/cli/recorded.h"

namespace vsb::cli {
namespace {

struct CompareCommand {
    std::string input;
    std::string fail_on;
    bool skip_invalid = false;
    bool lower_is_better = false;
    StoreOption store;
    FormatOption format;
    StatisticsOptions statistics;
};

bool names_an_experiment(const std::string& input) {
    return input == "last" ||
           std::ranges::all_of(input, [](char c) { return c >= '0' && c <= '9'; });
}

// A comparison, and the workloads that were to be compared.
struct Input {
    reports::Comparison comparison;
    std::vector<std::string> workloads;
};

void add_once(std::vector<std::string>& names, const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

Input from_store(const CompareCommand& options, const reports::CompareOptions& statistics) {
    if (options.skip_invalid || options.lower_is_better) {
        throw Failure(kUsage,
                      std::string(options.skip_invalid ? "--skip-invalid" : "--lower-is-better") +
                          ": is for CSV input; a recorded metric knows (leave it out)");
    }
    const auto store = datasets::Store::open(options.store.file(), datasets::OpenMode::read_only);
    const auto record = store.find(options.input);
    Input input{compare_recorded(store, record, statistics), {}};
    for (const auto& workload : record.workloads)
        input.workloads.push_back(workload.name);
    return input;
}

Input from_csv(const CompareCommand& options, const reports::CompareOptions& statistics) {
    const datasets::CsvOptions csv{options.skip_invalid, options.lower_is_better};
    std::vector<datasets::PairedSeries> series;
    const std::string name = options.input == "-" ? "stdin" : options.input;
    if (options.input == "-") {
        series = datasets::read_csv(std::cin, name, csv);
    } else {
        std::ifstream file(options.input, std::ios::binary);
        if (!file) {
            throw Failure(kUsage, options.input +
                                      ": cannot be read (INPUT is an experiment's id, `last`, a "
                                      "CSV file, or - for stdin)");
        }
        series = datasets::read_csv(file, name, csv);
    }
    Input input{reports::compare(name, series, statistics), {}};
    for (const auto& one : series)
        add_once(input.workloads, one.workload);
    return input;
}

int compare(const CompareCommand& options) {
    const std::string format = options.format.chosen();
    const reports::CompareOptions statistics = options.statistics.parsed();
    std::vector<stats::Verdict> fail_on;
    if (!options.fail_on.empty()) {
        try {
            fail_on = parse_gate(options.fail_on);
        } catch (const std::invalid_argument& error) {
            throw Failure(kUsage, std::string("--fail-on: ") + error.what());
        }
    }
    const Input input = names_an_experiment(options.input) ? from_store(options, statistics)
                                                           : from_csv(options, statistics);
    write_result(rendered(input.comparison, format));
    if (fail_on.empty()) return kDone;
    const auto failures = gate_failures(input.comparison, input.workloads, fail_on);
    for (const std::string& failure : failures)
        say("vsockbench: gate: " + failure);
    return failures.empty() ? kDone : kGateFailed;
}

}  // namespace

Command add_compare(CLI::App& program) {
    auto options = std::make_shared<CompareCommand>();
    CLI::App* app = program.add_subcommand("compare", "statistics of recorded or imported pairs");
    app->add_option("INPUT", options->input,
                    "an experiment's id, `last`, a CSV file (workload,pair,order,state,value with "
                    "optional metric,unit), or - for stdin")
        ->required();
    options->store.add_to(*app);
    options->format.add_to(*app, {"text", "json", "csv", "markdown"});
    options->statistics.add_to(*app);
    app->add_option("--fail-on", options->fail_on,
                    "exit 1 when a headline row is faster, slower, equivalent or inconclusive")
        ->type_name("VERDICT,...");
    app->add_flag("--skip-invalid", options->skip_invalid,
                  "CSV: drop pairs with a bad row and count them");
    app->add_flag("--lower-is-better", options->lower_is_better,
                  "CSV: of metrics that do not say themselves");
    app->footer(
        "Examples:\n"
        "  vsockbench compare last --margin 2%\n"
        "  vsockbench compare pairs.csv --fail-on slower,inconclusive --json");
    return {app, [options] { return compare(*options); }};
}

}  // namespace vsb::cli
