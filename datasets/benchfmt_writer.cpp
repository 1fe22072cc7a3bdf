#include <array>
#include <charconv>
#include <map>

#include "datasets/benchfmt.h"
#include "datasets/export_parts.h"

namespace vsb::datasets {
namespace {

// A field ends at a blank, and a control character would end more.
std::string word(const std::string& text) {
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        out += byte <= ' ' || byte == 0x7f ? '_' : c;
    }
    return out;
}

// A benchmark's name starts in upper case there, or with what is no letter.
std::string benchmark_name(const std::string& workload) {
    std::string name = word(workload);
    if (!name.empty() && name.front() >= 'a' && name.front() <= 'z') {
        name.front() = static_cast<char>(name.front() - 'a' + 'A');
    }
    return name;
}

// What names a metric there is its unit, so no two of a line may share one.
std::string unit_of(const Measurement& each, bool headline) {
    if (each.unit.empty() || each.unit == "1") return word(each.metric);
    return word(headline ? each.unit : each.metric + "-" + each.unit);
}

std::string number(double value) {
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    return {digits.data(), end};
}

}  // namespace

Exported to_benchfmt(const Recorded& recorded, const std::string& only) {
    const ExperimentRecord& record = recorded.experiment;
    check_state(record, only);
    const TrialNames names(record);
    Exported exported;
    std::string lines;
    std::map<std::string, bool> units;  // unit -> whether higher is better
    std::string state;
    std::size_t lost = 0;
    for (const TrialRecord& trial : recorded.trials) {
        const std::string& label = names.state.at(trial.state_id)->label;
        if (!only.empty() && label != only) continue;
        if (trial.status != TrialStatus::ok || trial.measurements.empty()) {
            ++lost;
            continue;
        }
        if (label != state) lines += "state: " + word(label) + "\n";
        state = label;
        const WorkloadRecord& workload = *names.workload.at(trial.workload_id);
        lines += "Benchmark" + benchmark_name(workload.name) + " " +
                 std::to_string(workload.writes > 0 ? workload.writes : 1);
        for (const Measurement& each : trial.measurements) {
            const std::string unit = unit_of(each, &each == trial.measurements.data());
            lines += " " + number(each.value) + " " + unit;
            units[unit] = higher_is_better(each.metric, each.unit);
        }
        lines += "\n";
    }
    exported.text = "vsockbench-experiment: " + record.uuid + "\n";
    for (const auto& [unit, higher] : units)
        exported.text += "Unit " + unit + (higher ? " better=higher\n" : " better=lower\n");
    exported.text += lines;
    leave_out(exported, lost, "trials that are not ok");
    return exported;
}

}  // namespace vsb::datasets
