#include <memory>

#include "datasets/store.h"
#include "harness/cli/command.h"
#include "harness/cli/common_options.h"
#include "harness/cli/failure.h"
#include "harness/cli/output.h"
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
    write_result(rendered(compare_recorded(store, record, statistics), format), options.file);
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
    options->format.add_to(*app, {"cover-letter", "markdown", "csv", "json", "text"});
    options->statistics.add_to(*app);
    app->footer(
        "Examples:\n"
        "  vsockbench report last\n"
        "  vsockbench report 3 --format markdown -o results.md");
    return {app, [options] { return report(*options); }};
}

}  // namespace vsb::cli
