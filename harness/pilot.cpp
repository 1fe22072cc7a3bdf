#include "harness/pilot.h"

#include <algorithm>
#include <cmath>

#include "harness/schedule.h"
#include "harness/value_text.h"

namespace vsb::harness {
namespace {

std::string percent_text(double fraction) {
    return number_text(std::round(fraction * 1e8) / 1e6) + "%";
}

}  // namespace

std::string plan_rule(const Experiment& experiment) {
    if (experiment.until_halfwidth <= 0) return {};
    return "a pilot of " + std::to_string(kPilotPairs) +
           " pairs, then as many as its scatter asks for a half-width of " +
           percent_text(experiment.until_halfwidth) + " (" + percent_text(kPlanConfidence) +
           " interval, " + percent_text(kPlanAssurance) + " assurance), at most " +
           std::to_string(experiment.pairs) + "; decided once, not by the interval";
}

PairGoals::PairGoals(const Experiment& experiment, const datasets::ExperimentRecord& record)
    : most_(experiment.pairs) {
    const bool by_pilot = experiment.until_halfwidth > 0;
    for (const datasets::WorkloadRecord& workload : record.workloads) {
        Goal goal{by_pilot ? std::min(kPilotPairs, most_) : most_, !by_pilot};
        goals_.push_back(goal);
        if (!by_pilot) continue;
        const auto stored = record.environment.find(std::string(kPlanPairs) + workload.name);
        if (stored == record.environment.end()) continue;
        set(goals_.size() - 1, static_cast<std::int64_t>(parse_count(stored->second)));
    }
}

std::size_t PairGoals::total() const {
    std::size_t sum = 0;
    for (const Goal& goal : goals_)
        sum += static_cast<std::size_t>(goal.pairs);
    return sum;
}

void PairGoals::set(std::size_t workload, std::int64_t pairs) {
    const std::int64_t wanted = std::clamp(pairs, goals_[workload].pairs, most_);
    const std::int64_t blocks = (wanted + kPairsOfABlock - 1) / kPairsOfABlock;
    goals_[workload] = {std::min(blocks * kPairsOfABlock, most_), true};
}

}  // namespace vsb::harness
