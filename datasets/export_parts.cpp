#include "datasets/export_parts.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace vsb::datasets {
namespace {

Summary summary_of(const PairedSeries& series, bool is_a) {
    Summary summary;
    summary.state.assign(1, is_a ? 'A' : 'B');
    summary.workload = series.workload;
    summary.metric = series.metric;
    summary.unit = series.unit;
    summary.higher_is_better = series.higher_is_better;
    summary.runs = series.pairs.size();
    double sum = 0;
    double log_sum = 0;
    bool above_zero = true;
    for (const PairedValue& pair : series.pairs) {
        const double value = is_a ? pair.a : pair.b;
        const bool first = &pair == series.pairs.data();
        summary.least = first ? value : std::min(summary.least, value);
        summary.greatest = first ? value : std::max(summary.greatest, value);
        above_zero = above_zero && value > 0;
        sum += value;
        if (above_zero) log_sum += std::log(value);
    }
    const auto n = static_cast<double>(summary.runs);
    // Rounding must not put the mean of equal values beside them.
    summary.mean =
        std::clamp(above_zero ? std::exp(log_sum / n) : sum / n, summary.least, summary.greatest);
    return summary;
}

}  // namespace

TrialNames::TrialNames(const ExperimentRecord& record) {
    for (const WorkloadRecord& each : record.workloads)
        workload[each.id] = &each;
    for (const StateRecord& each : record.states)
        state[each.id] = &each;
}

std::vector<Summary> summaries(const Recorded& recorded, const std::string& state) {
    check_state(recorded.experiment, state);
    if (!state.empty() && state != "A" && state != "B") {
        throw std::invalid_argument("means are made of states A and B, not of " + state);
    }
    std::vector<Summary> all;
    std::string workload;
    for (const PairedSeries& series : recorded.series) {
        const bool headline = &series == recorded.series.data() || series.workload != workload;
        workload = series.workload;
        if (series.pairs.empty()) continue;
        for (const bool is_a : {true, false}) {
            if (!state.empty() && (state == "A") != is_a) continue;
            all.push_back(summary_of(series, is_a));
            all.back().headline = headline;
        }
    }
    return all;
}

void check_state(const ExperimentRecord& record, const std::string& state) {
    if (state.empty()) return;
    std::string labels;
    for (const StateRecord& each : record.states) {
        if (each.label == state) return;
        labels += (labels.empty() ? "" : ", ") + each.label;
    }
    throw std::invalid_argument("there is no state '" + state + "' (there are " + labels + ")");
}

void leave_out(Exported& exported, std::size_t count, const std::string& what) {
    if (count > 0) exported.left_out.push_back(std::to_string(count) + " " + what);
}

}  // namespace vsb::datasets
