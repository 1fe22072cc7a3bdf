#include <nlohmann/json.hpp>

#include "datasets/export_parts.h"

namespace vsb::datasets {

using nlohmann::ordered_json;

Exported to_bmf(const Recorded& recorded, const std::string& state) {
    constexpr std::size_t kLongestBenchmark = 1024;  // their limits
    constexpr std::size_t kLongestMeasure = 64;
    Exported exported;
    ordered_json document = ordered_json::object();
    std::size_t too_long = 0;
    for (const Summary& each : summaries(recorded, state)) {
        const std::string benchmark =
            state.empty() ? each.state + "/" + each.workload : each.workload;
        // There is no field for a unit.
        const bool bare = each.unit.empty() || each.unit == "1";
        const std::string measure = bare ? each.metric : each.metric + " (" + each.unit + ")";
        if (benchmark.size() > kLongestBenchmark || measure.size() > kLongestMeasure) {
            ++too_long;
            continue;
        }
        document[benchmark][measure] = {
            {"value", each.mean}, {"lower_value", each.least}, {"upper_value", each.greatest}};
    }
    exported.text = document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
    leave_out(exported, too_long, "figures whose names are too long for BMF");
    return exported;
}

}  // namespace vsb::datasets
