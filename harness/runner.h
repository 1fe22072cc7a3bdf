#pragma once
// Runs an experiment: goes through its schedule, commits every trial as it ends, and says how it
// went.
//
// Pairs are measured one after the other, or, where the target serves rounds, a round of all
// workloads at a time: first every workload in one state, then every one in the other.
//
// A failed trial is recorded with its reason, its pair is lost (the partner, if still to come, is
// not run), and the run goes on: later pairs are measured as planned and the experiment ends
// `failed`. Where the target calls a failure hopeless, the run ends there. --resume repeats
// whole pairs: those not begun, those lost, and those of which only one half was measured, whose
// lone half becomes `invalid`. So there is at most one ok trial per workload, pair and state, and
// both halves of a pair belong to one attempt.
//
// With until_halfwidth every workload first gets its pilot; then its number of pairs is planned,
// stored (pilot.h's environment keys), and kept to by every later part. The schedule is that of
// Experiment::pairs, of which each workload runs as far as its plan goes.

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "datasets/store.h"
#include "harness/clock.h"
#include "harness/experiment.h"
#include "harness/observer.h"
#include "harness/pilot.h"
#include "harness/target.h"

namespace vsb::harness {

struct RunContext {
    datasets::Store& store;
    Target& target;
    Observer& observer;
    Clock clock;
    std::function<bool()> stop;  // polled between and within trials: true after Ctrl-C
    Planner planner = {};        // needed where the experiment plans its pairs from a pilot
};

struct RunOutcome {
    datasets::Id id = 0;
    datasets::ExperimentStatus status = datasets::ExperimentStatus::finished;
    std::size_t pairs_planned = 0;  // where a plan is still open, the pilot's
    std::size_t pairs_whole = 0;    // earlier parts included
    std::size_t pairs_lost = 0;     // in this part
    std::string first_failure;      // reason of the first failed trial of this part
};

// What the store is to know beside the experiment itself.
struct RunFacts {
    std::map<std::string, std::string> environment;
    std::string tool_version;
    std::string project_commit;
};

// Both throw datasets::StoreWriteFailed; what was committed before stays.
RunOutcome run_experiment(const RunContext& context, const Experiment& experiment,
                          const RunFacts& facts);

// Goes on with a recorded experiment: the same schedule, from its stored configuration and seed.
// Throws std::invalid_argument when the record does not fit its configuration.
RunOutcome resume_experiment(const RunContext& context, const Experiment& experiment,
                             const datasets::ExperimentRecord& record);

// Environment key of a warning that belongs to the whole run.
inline constexpr std::string_view kWarningPrefix = "warning.";

}  // namespace vsb::harness
