#pragma once
// What a run tells while it is under way. The runner knows no terminal.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "datasets/records.h"
#include "harness/experiment.h"
#include "harness/schedule.h"

namespace vsb::harness {

struct RunBegin {
    const datasets::ExperimentRecord& record;
    const std::vector<Workload>& workloads;
    std::size_t pairs_planned = 0;
    std::size_t pairs_done = 0;  // by an earlier part of a resumed run
};

// The pairs of one workload were planned from its pilot.
struct PairsPlanned {
    const Workload& workload;
    std::int64_t pairs = 0;
    const std::string& why;
};

struct PairEnd {
    const PlannedPair& planned;
    const Workload& workload;
    std::size_t pairs_over = 0;  // measured or lost, this one and an earlier part's included
    std::size_t pairs_planned = 0;
    std::string lost;  // why the pair is lost; empty when it is whole
    std::string metric;
    std::string unit;
    std::optional<double> a;  // headline values of a whole pair
    std::optional<double> b;
};

class Observer {
  public:
    Observer() = default;
    Observer(const Observer&) = delete;
    Observer& operator=(const Observer&) = delete;
    virtual ~Observer() = default;

    virtual void begin(const RunBegin& /*event*/) {}
    // After the trial was committed; trial.id is its id.
    virtual void trial(const datasets::TrialRecord& /*trial*/, const Workload& /*workload*/) {}
    virtual void planned(const PairsPlanned& /*event*/) {}
    virtual void pair(const PairEnd& /*event*/) {}
    virtual void warning(const std::string& /*code*/, const std::string& /*text*/) {}
};

}  // namespace vsb::harness
