#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "datasets/store.h"
#include "harness/cli/command.h"
#include "harness/cli/common_options.h"
#include "harness/cli/failure.h"
#include "harness/cli/names.h"
#include "harness/cli/output.h"
#include "reports/escape.h"

namespace vsb::cli {
namespace {

using datasets::ExperimentRecord;

struct ListOptions {
    StoreOption store;
    FormatOption format;
};

std::string as_json(const std::vector<ExperimentRecord>& experiments) {
    nlohmann::ordered_json document;
    document["schema"] = "vsockbench.list/1";
    document["experiments"] = nlohmann::ordered_json::array();
    for (const ExperimentRecord& record : experiments) {
        document["experiments"].push_back({{"id", record.id},
                                           {"name", record.name},
                                           {"target", record.target},
                                           {"status", status_name(record.status)},
                                           {"pairs", record.pairs},
                                           {"workloads", record.workloads.size()},
                                           {"started", record.started},
                                           {"finished", json_text(record.finished)},
                                           {"uuid", record.uuid}});
    }
    return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string as_text(const std::vector<ExperimentRecord>& experiments) {
    if (experiments.empty()) return "no experiments (vsockbench run demo makes one)\n";
    std::string text = fmt::format("{:>5}  {:<20} {:<6}  {:<11}  {:>5}  {}\n", "id", "started",
                                   "target", "status", "pairs", "name");
    for (const ExperimentRecord& record : experiments) {
        text += fmt::format("{:>5}  {:<20} {:<6}  {:<11}  {:>5}  {}\n", record.id,
                            reports::ascii(record.started), reports::ascii(record.target),
                            status_name(record.status), record.pairs, reports::ascii(record.name));
    }
    return text;
}

int list(const ListOptions& options) {
    const std::string format = options.format.chosen();
    const auto store = datasets::Store::open(options.store.file(), datasets::OpenMode::read_only);
    const auto experiments = store.experiments();
    write_result(format == "json" ? as_json(experiments) : as_text(experiments));
    return kDone;
}

}  // namespace

Command add_list(CLI::App& program) {
    auto options = std::make_shared<ListOptions>();
    CLI::App* app = program.add_subcommand("list", "the experiments of a store");
    options->store.add_to(*app);
    options->format.add_to(*app, {"text", "json"});
    app->footer(
        "Examples:\n"
        "  vsockbench list\n"
        "  vsockbench list --db nightly.db --json");
    return {app, [options] { return list(*options); }};
}

}  // namespace vsb::cli
