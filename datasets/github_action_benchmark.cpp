#include <nlohmann/json.hpp>

#include "datasets/export_parts.h"

namespace vsb::datasets {

using nlohmann::ordered_json;

Exported to_github_action_benchmark(const Recorded& recorded, const std::string& state,
                                    Better better) {
    Exported exported;
    ordered_json entries = ordered_json::array();
    std::size_t other = 0;
    for (const Summary& each : summaries(recorded, state)) {
        if (!each.headline) continue;
        if (each.higher_is_better != (better == Better::higher)) {
            ++other;
            continue;
        }
        const std::string range =
            ordered_json(each.least).dump() + " to " + ordered_json(each.greatest).dump();
        entries.push_back(
            {{"name", (state.empty() ? each.state + "/" : "") + each.workload + " " + each.metric},
             {"unit", each.unit},
             {"value", each.mean},
             {"range", range},
             {"extra",
              std::to_string(each.runs) + " runs, experiment " + recorded.experiment.uuid}});
    }
    exported.text = entries.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
    leave_out(exported, other,
              better == Better::higher ? "figures of which less is better (--better lower)"
                                       : "figures of which more is better (--better higher)");
    return exported;
}

}  // namespace vsb::datasets
