#include <memory>

#include "datasets/store.h"
#include "harness/cli/command.h"
#include "harness/cli/common_options.h"
#include "harness/cli/failure.h"
#include "harness/cli/output.h"
#include "harness/cli/page.h"
#include "harness/cli/recorded.h"

namespace vsb::cli {
namespace {

struct ReportOptions {
    std::string experiment;
    std::string file;
    StoreOption store;
    FormatOption format;
    StatisticsOptions statistics;
};

int report(const ReportOptions& options) {
    const std::string format = options.format.chosen();
    const reports::CompareOptions statistics = options.statistics.parsed();
    const auto store = datasets::Store::open(options.store.file(), datasets::OpenMode::read_only);
    const auto record = store.find(options.experiment);
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
    app->add_option("EXPERIMENT", options->experiment, "its id, or `last`")->required();
    app->add_option("-o,--output", options->file, "write it here instead of stdout")
        ->type_name("FILE");
    options->store.add_to(*app);
    options->format.add_to(
        *app, {"cover-letter", "markdown", "csv", "json", "html", "ktap", "junit", "text"});
    options->statistics.add_to(*app);
    app->footer(
        "Examples:\n"
        "  vsockbench report last\n"
        "  vsockbench report 3 --format html -o results.html");
    return {app, [options] { return report(*options); }};
}

}  // namespace vsb::cli
