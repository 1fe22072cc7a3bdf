#include <nlohmann/json.hpp>

#include "datasets/export_parts.h"
#include "datasets/trials.h"

namespace vsb::datasets {

using nlohmann::ordered_json;

Exported to_json_lines(const Recorded& recorded) {
    const ExperimentRecord& record = recorded.experiment;
    const TrialNames names(record);
    Exported exported;
    for (const TrialRecord& trial : recorded.trials) {
        const WorkloadRecord& workload = *names.workload.at(trial.workload_id);
        const StateRecord& state = *names.state.at(trial.state_id);
        ordered_json measurements = ordered_json::array();
        for (const Measurement& each : trial.measurements) {
            measurements.push_back(
                {{"metric", each.metric}, {"unit", each.unit}, {"value", each.value}});
        }
        ordered_json samples = ordered_json::array();
        for (const SampleBlock& each : trial.samples) {
            samples.push_back(
                {{"metric", each.metric}, {"unit", each.unit}, {"values", each.values}});
        }
        const ordered_json line = {
            {"schema", "vsockbench.trial/1"},
            {"experiment",
             {{"uuid", record.uuid}, {"name", record.name}, {"target", record.target}}},
            {"workload",
             {{"name", workload.name},
              {"kind", workload.kind},
              {"payload_bytes", workload.payload_bytes},
              {"recv_bytes", workload.recv_bytes},
              {"writes", workload.writes}}},
            {"state", {{"label", state.label}, {"spec", state.spec}}},
            {"pair", trial.pair},
            {"order", text_of(trial.pair_order)},
            {"position", trial.position},
            {"attempt", trial.attempt},
            {"status", text_of(trial.status)},
            {"reason", trial.reason},
            {"started", trial.started},
            {"wall_time_ns", trial.wall_time_ns},
            {"measurements", std::move(measurements)},
            {"samples", std::move(samples)}};
        exported.text += line.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
    }
    return exported;
}

}  // namespace vsb::datasets
