#include <fmt/format.h>

#include <map>
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
using datasets::TrialRecord;
using datasets::TrialStatus;
using nlohmann::ordered_json;

struct ShowOptions {
    std::string experiment;
    StoreOption store;
    FormatOption format;
};

// Names by id, for trials that carry only ids.
struct Labels {
    std::map<datasets::Id, std::string> workload;
    std::map<datasets::Id, std::string> state;

    explicit Labels(const ExperimentRecord& record) {
        for (const auto& w : record.workloads)
            workload[w.id] = w.name;
        for (const auto& s : record.states)
            state[s.id] = s.label;
    }
};

ordered_json trial_json(const TrialRecord& trial, const Labels& labels) {
    ordered_json measurements = ordered_json::array();
    for (const auto& m : trial.measurements) {
        measurements.push_back({{"metric", m.metric}, {"unit", m.unit}, {"value", m.value}});
    }
    return {{"id", trial.id},
            {"workload", labels.workload.at(trial.workload_id)},
            {"state", labels.state.at(trial.state_id)},
            {"pair", trial.pair},
            {"order", order_name(trial.pair_order)},
            {"position", trial.position},
            {"attempt", trial.attempt},
            {"status", status_name(trial.status)},
            {"reason", json_text(trial.reason)},
            {"started", trial.started},
            {"wall_time_ns", trial.wall_time_ns},
            {"measurements", std::move(measurements)}};
}

std::string as_json(const ExperimentRecord& record, const std::vector<TrialRecord>& trials) {
    const Labels labels(record);
    ordered_json document;
    document["schema"] = "vsockbench.experiment/1";
    document["id"] = record.id;
    document["uuid"] = record.uuid;
    document["name"] = record.name;
    document["target"] = record.target;
    document["status"] = status_name(record.status);
    document["started"] = record.started;
    document["finished"] = json_text(record.finished);
    document["seed"] = record.seed;
    document["pairs"] = record.pairs;
    document["tool_version"] = record.tool_version;
    document["project_commit"] = json_text(record.project_commit);
    document["config"] = record.config;
    document["states"] = ordered_json::array();
    for (const auto& state : record.states) {
        document["states"].push_back({{"label", state.label}, {"spec", state.spec}});
    }
    document["workloads"] = ordered_json::array();
    for (const auto& workload : record.workloads) {
        document["workloads"].push_back({{"name", workload.name},
                                         {"kind", workload.kind},
                                         {"payload_bytes", workload.payload_bytes},
                                         {"recv_bytes", workload.recv_bytes},
                                         {"writes", workload.writes}});
    }
    document["environment"] = record.environment;
    document["trials"] = ordered_json::array();
    for (const TrialRecord& trial : trials) {
        document["trials"].push_back(trial_json(trial, labels));
    }
    return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string as_text(const ExperimentRecord& record, const std::vector<TrialRecord>& trials) {
    const Labels labels(record);
    std::map<TrialStatus, std::size_t> count;
    for (const TrialRecord& trial : trials)
        ++count[trial.status];
    std::string text;
    const auto line = [&](const char* label, const std::string& value) {
        if (!value.empty()) text += fmt::format("{:<12}{}\n", label, reports::ascii(value));
    };
    line("experiment", fmt::format("{} ({})", record.id, record.name));
    line("uuid", record.uuid);
    line("status", status_name(record.status));
    line("started", record.started);
    line("finished", record.finished);
    line("target", record.target);
    for (const auto& state : record.states) {
        line(("state " + state.label).c_str(), state.spec.empty() ? "as built" : state.spec);
    }
    const bool planned = record.environment.contains("plan.rule");
    line("pairs", fmt::format("{}{} of each of {} workloads, seed {}", planned ? "at most " : "",
                              record.pairs, record.workloads.size(), record.seed));
    line("trials", fmt::format("{} ok, {} failed, {} invalid, {} interrupted",
                               count[TrialStatus::ok], count[TrialStatus::failed],
                               count[TrialStatus::invalid], count[TrialStatus::interrupted]));
    line("tool", record.tool_version);
    line("commit", record.project_commit);
    text += "\nenvironment\n";
    for (const auto& [key, value] : record.environment) {
        text += fmt::format("  {:<34} {}\n", reports::ascii(key), reports::ascii(value));
    }
    text += "\nworkloads\n";
    for (const auto& workload : record.workloads) {
        text += fmt::format("  {:<14} {} x {} B, recv() {} B\n", reports::ascii(workload.name),
                            workload.writes, workload.payload_bytes, workload.recv_bytes);
    }
    bool heading = true;
    for (const TrialRecord& trial : trials) {
        if (trial.status == TrialStatus::ok) continue;
        if (heading) text += "\nnot ok\n";
        heading = false;
        text += fmt::format("  {} pair {} {} {}, attempt {}: {}: {}\n",
                            reports::ascii(labels.workload.at(trial.workload_id)), trial.pair,
                            order_name(trial.pair_order),
                            reports::ascii(labels.state.at(trial.state_id)), trial.attempt,
                            status_name(trial.status), reports::ascii(trial.reason));
    }
    return text;
}

int show(const ShowOptions& options) {
    const std::string format = options.format.chosen();
    const auto store = datasets::Store::open(options.store.file(), datasets::OpenMode::read_only);
    const ExperimentRecord record = store.find(options.experiment);
    const auto trials = store.trials(record.id);
    write_result(format == "json" ? as_json(record, trials) : as_text(record, trials));
    return kDone;
}

}  // namespace

Command add_show(CLI::App& program) {
    auto options = std::make_shared<ShowOptions>();
    CLI::App* app = program.add_subcommand("show", "one experiment: what was recorded, and where");
    app->add_option("EXPERIMENT", options->experiment, "its id, or `last`")->required();
    options->store.add_to(*app);
    options->format.add_to(*app, {"text", "json"});
    app->footer(
        "Examples:\n"
        "  vsockbench show last\n"
        "  vsockbench show 3 --json");
    return {app, [options] { return show(*options); }};
}

}  // namespace vsb::cli
