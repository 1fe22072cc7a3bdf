#pragma once
// A run that plans itself (until_halfwidth): a pilot of every workload, then as many pairs as the
// pilot's scatter asks for. The number of pairs is decided once, from the scatter alone, and the
// interval is looked at when they are all there: no run ends because its interval looks narrow or
// misses 0.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/records.h"
#include "harness/experiment.h"

namespace vsb::harness {

inline constexpr std::int64_t kPilotPairs = 20;    // smaller pilots cost coverage: stats/planning.h
inline constexpr std::int64_t kMostPlanned = 200;  // where --pairs does not say
inline constexpr double kPlanConfidence = 0.95;
inline constexpr double kPlanAssurance = 0.80;

struct PairPlan {
    std::int64_t pairs = 0;  // needed in the end, the pilot included; 0: nothing could be planned
    std::string why;         // one sentence, for the record
};

// The plan of one workload from the headline values of its whole pilot pairs. A function so that
// the runner knows no statistics.
using Planner = std::function<PairPlan(const Experiment&, const datasets::PairedSeries& pilot)>;

// Environment keys of a plan: the rule once, then pairs and reason by workload.
inline constexpr std::string_view kPlanRule = "plan.rule";
inline constexpr std::string_view kPlanPairs = "plan.pairs.";
inline constexpr std::string_view kPlanWhy = "plan.why.";

// What is planned and how, as a sentence; empty for an experiment with a fixed number of pairs.
std::string plan_rule(const Experiment& experiment);

// How many pairs each workload is to have.
class PairGoals {
  public:
    // Goals of an earlier part are taken from the record's environment.
    PairGoals(const Experiment& experiment, const datasets::ExperimentRecord& record);

    std::int64_t of(std::size_t workload) const { return goals_[workload].pairs; }
    bool open(std::size_t workload) const { return !goals_[workload].planned; }
    std::size_t total() const;

    // Blocks of the schedule are kept whole, so that both orders are equally often: rounded up, up
    // to the experiment's pairs and not below the pilot.
    void set(std::size_t workload, std::int64_t pairs);
    // Nothing can be planned for it: it stays with its pilot.
    void leave(std::size_t workload) { goals_[workload].planned = true; }

  private:
    struct Goal {
        std::int64_t pairs = 0;
        bool planned = false;
    };
    std::int64_t most_ = 0;
    std::vector<Goal> goals_;
};

}  // namespace vsb::harness
