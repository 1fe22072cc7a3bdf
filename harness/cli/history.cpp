#include <memory>
#include <stdexcept>

#include "datasets/store.h"
#include "harness/cli/command.h"
#include "harness/cli/common_options.h"
#include "harness/cli/failure.h"
#include "harness/cli/history_options.h"
#include "harness/cli/output.h"
#include "harness/value_text.h"
#include "reports/history_csv.h"
#include "reports/history_json.h"
#include "reports/history_text.h"

namespace vsb::cli {
namespace {

struct HistoryCommand {
    std::string name;
    std::string fail_on;
    std::string file;
    StoreOption store;
    FormatOption format;
    HistoryFlags flags;
};

HistoryGate parse_history_gate(const std::string& text) {
    HistoryGate gate;
    if (text.empty()) return gate;
    for (const std::string& item : harness::split_list(text)) {
        if (item == "step") {
            gate.step = true;
        } else if (item == "drop") {
            gate.drop = true;
        } else {
            throw std::invalid_argument("'" + item +
                                        "' is nothing to fail on (choose from step, drop)");
        }
    }
    if (!gate.step && !gate.drop) throw std::invalid_argument("names nothing to fail on");
    return gate;
}

int history(const HistoryCommand& options) {
    const std::string format = options.format.chosen();
    const reports::HistoryOptions wanted = options.flags.parsed();
    HistoryGate gate;
    try {
        gate = parse_history_gate(options.fail_on);
    } catch (const std::invalid_argument& error) {
        throw Failure(kUsage, std::string("--fail-on: ") + error.what());
    }
    const auto store = datasets::Store::open(options.store.file(), datasets::OpenMode::read_only);
    const std::string name = options.name.empty() ? store.find("last").name : options.name;
    const reports::History result = recorded_history(store, name, wanted);
    std::string text;
    if (format == "json") {
        text = reports::history_json(result);
    } else if (format == "csv") {
        text = reports::history_csv(result);
    } else if (format == "html") {
        text = history_page(result);
    } else {
        text = reports::history_text(result, stdout_columns());
    }
    write_result(text, options.file);
    const auto failures = history_failures(result, gate);
    for (const std::string& failure : failures)
        say("vsockbench: gate: " + failure);
    return failures.empty() ? kDone : kGateFailed;
}

}  // namespace

Command add_history(CLI::App& program) {
    auto options = std::make_shared<HistoryCommand>();
    CLI::App* app =
        program.add_subcommand("history", "one experiment's nights: trend, change points, gate");
    app->add_option("NAME", options->name, "the experiments of this name (that of the newest one)");
    app->add_option("-o,--output", options->file, "write it here instead of stdout")
        ->type_name("FILE");
    options->store.add_to(*app);
    options->format.add_to(*app, {"text", "json", "csv", "html"});
    app->add_option("--fail-on", options->fail_on,
                    "exit 1 on an alarm: step (a change point that is worse), drop (the newest "
                    "night alone is)")
        ->type_name("KIND,...");
    options->flags.add_to(*app);
    app->footer(
        "Examples:\n"
        "  vsockbench history nightly --since 2026-10-01\n"
        "  vsockbench history nightly --format html -o history.html --fail-on step,drop");
    return {app, [options] { return history(*options); }};
}

}  // namespace vsb::cli
