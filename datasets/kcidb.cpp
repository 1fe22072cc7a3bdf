#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "datasets/export_parts.h"

namespace vsb::datasets {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kLongestExcerpt = 16384;

bool is_hash(const std::string& text) {
    return text.size() == 40 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// "vsockbench.fixed.64B.throughput": dots part the levels, and few other characters may stand.
std::string path_of(const std::string& workload, const std::string& metric) {
    std::string path = "vsockbench." + workload + (metric.empty() ? "" : "." + metric);
    for (char& c : path) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
        if (c == '/') c = '.';
        if (!plain && c != '.') c = '_';
    }
    return path;
}

ordered_json number_of(const Summary& each) {
    ordered_json number = {{"value", each.mean}};
    if (!each.unit.empty() && each.unit != "1") number["unit"] = each.unit;
    return number;
}

}  // namespace

Exported to_kcidb(const Recorded& recorded, const std::string& origin) {
    if (origin.empty() || !std::ranges::all_of(origin, [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
        })) {
        throw std::invalid_argument("'" + origin + "' is no origin (letters a-z, digits and _)");
    }
    const ExperimentRecord& record = recorded.experiment;
    const std::string stem = origin + ":" + record.uuid;
    ordered_json checkout = {{"id", stem}, {"origin", origin}};
    if (is_hash(record.project_commit)) {
        checkout["git_commit_hash"] = record.project_commit;
    } else if (!record.project_commit.empty()) {
        checkout["comment"] = "commit " + record.project_commit;
    }
    ordered_json builds = ordered_json::array();
    for (const StateRecord& state : record.states) {
        builds.push_back({{"id", stem + ":" + state.label},
                          {"checkout_id", stem},
                          {"origin", origin},
                          {"comment", "state " + state.label + ": " + state.spec}});
    }
    ordered_json tests = ordered_json::array();
    std::size_t index = 0;
    for (const Summary& each : summaries(recorded, "")) {
        tests.push_back(
            {{"id", stem + ":" + std::to_string(++index)},
             {"origin", origin},
             {"build_id", stem + ":" + each.state},
             {"path", path_of(each.workload, each.metric)},
             {"comment", each.workload + " " + each.metric + ", mean of " +
                             std::to_string(each.runs) + " runs"},
             {"status", "DONE"},
             {"number", number_of(each)},
             {"start_time", record.started},
             {"misc", {{"least", each.least}, {"greatest", each.greatest}, {"runs", each.runs}}}});
    }
    const TrialNames names(record);
    std::size_t unfinished = 0;
    for (const TrialRecord& trial : recorded.trials) {
        if (trial.status == TrialStatus::ok) continue;
        if (trial.status != TrialStatus::failed) {
            ++unfinished;
            continue;
        }
        const std::string& workload = names.workload.at(trial.workload_id)->name;
        tests.push_back({{"id", stem + ":trial-" + std::to_string(trial.id)},
                         {"origin", origin},
                         {"build_id", stem + ":" + names.state.at(trial.state_id)->label},
                         {"path", path_of(workload, "")},
                         {"comment", workload + ", pair " + std::to_string(trial.pair)},
                         {"status", "ERROR"},
                         {"log_excerpt", trial.reason.substr(0, kLongestExcerpt)},
                         {"start_time", trial.started},
                         {"duration", static_cast<double>(trial.wall_time_ns) / 1e9}});
    }
    ordered_json document = {{"version", {{"major", 4}, {"minor", 5}}},
                             {"checkouts", ordered_json::array({std::move(checkout)})},
                             {"builds", std::move(builds)},
                             {"tests", std::move(tests)}};
    Exported exported;
    exported.text = document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
    leave_out(exported, unfinished, "trials that are invalid or were interrupted");
    return exported;
}

}  // namespace vsb::datasets
