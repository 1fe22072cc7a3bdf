#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "datasets/export_parts.h"

namespace vsb::datasets {
namespace {

using nlohmann::ordered_json;

struct Time {
    double value = 0;
    const char* unit = "ns";
    std::int64_t iterations = 1;
};

// A headline that is a time stands as it is; a rate becomes the time of one write, or of one byte
// where the payload is not known; for anything else there is the trial's own time.
Time time_of(const Measurement& headline, const WorkloadRecord& workload, std::int64_t wall_ns) {
    for (const char* unit : {"ns", "us", "ms", "s"}) {
        if (headline.unit == unit) return {headline.value, unit};
    }
    if (headline.unit == "Gbit/s" && headline.value > 0) {
        const bool known = workload.payload_bytes > 0;
        const double bits = 8.0 * (known ? static_cast<double>(workload.payload_bytes) : 1.0);
        return {bits / headline.value, "ns", known && workload.writes > 0 ? workload.writes : 1};
    }
    return {static_cast<double>(wall_ns), "ns"};
}

// Names of theirs, which a metric of ours may not take.
bool is_reserved(const std::string& key) {
    for (const char* known :
         {"name", "run_name", "run_type", "repetitions", "repetition_index", "threads",
          "iterations", "real_time", "cpu_time", "time_unit", "label"}) {
        if (key == known) return true;
    }
    return false;
}

}  // namespace

Exported to_google_benchmark(const Recorded& recorded, const std::string& only) {
    const ExperimentRecord& record = recorded.experiment;
    check_state(record, only);
    const TrialNames names(record);
    Exported exported;
    std::map<std::pair<Id, Id>, int> repetitions;
    std::vector<const TrialRecord*> kept;
    std::size_t lost = 0;
    std::size_t untimed = 0;
    for (const TrialRecord& trial : recorded.trials) {
        if (!only.empty() && names.state.at(trial.state_id)->label != only) continue;
        const bool ok = trial.status == TrialStatus::ok && !trial.measurements.empty();
        if (!ok) {
            ++lost;
        } else if (const Time time =
                       time_of(trial.measurements.front(), *names.workload.at(trial.workload_id),
                               trial.wall_time_ns);
                   !(time.value > 0)) {
            ++untimed;
        } else {
            kept.push_back(&trial);
            ++repetitions[{trial.workload_id, trial.state_id}];
        }
    }
    std::map<std::pair<Id, Id>, int> index;
    ordered_json benchmarks = ordered_json::array();
    for (const TrialRecord* trial : kept) {
        const WorkloadRecord& workload = *names.workload.at(trial->workload_id);
        const std::string& label = names.state.at(trial->state_id)->label;
        const std::string name = only.empty() ? label + "/" + workload.name : workload.name;
        const std::pair key{trial->workload_id, trial->state_id};
        const Time time = time_of(trial->measurements.front(), workload, trial->wall_time_ns);
        ordered_json entry = {{"name", name},
                              {"run_name", name},
                              {"run_type", "iteration"},
                              {"repetitions", repetitions[key]},
                              {"repetition_index", index[key]++},
                              {"threads", 1},
                              {"iterations", time.iterations},
                              {"real_time", time.value},
                              {"cpu_time", time.value},
                              {"time_unit", time.unit}};
        for (const Measurement& each : trial->measurements) {
            if (each.unit == "Gbit/s" && &each == trial->measurements.data()) {
                entry["bytes_per_second"] = each.value * 1e9 / 8;
            }
            const std::string metric = is_reserved(each.metric) ? each.metric + "_" : each.metric;
            entry[metric] = each.value;
        }
        benchmarks.push_back(std::move(entry));
    }
    ordered_json context = {{"date", record.started},
                            {"executable", "vsockbench"},
                            {"vsockbench_experiment", record.uuid},
                            {"vsockbench_cpu_time", "repeats real_time: it was not measured"}};
    const ordered_json document = {{"context", std::move(context)},
                                   {"benchmarks", std::move(benchmarks)}};
    exported.text = document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
    leave_out(exported, lost, "trials that are not ok");
    leave_out(exported, untimed, "trials without a time");
    return exported;
}

}  // namespace vsb::datasets
