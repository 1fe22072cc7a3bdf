#pragma once
// What stands between a configuration and its run: this machine's CPUs and counters, the target,
// and the machine's state before and after.

#include <map>
#include <memory>
#include <string>

#include "datasets/store.h"
#include "harness/experiment.h"
#include "harness/machine_state.h"
#include "harness/observer.h"
#include "harness/target.h"

namespace vsb::cli {

// Fills in the CPUs, drops `cycles` where the machine has no counters and only a preset asked, and
// returns the machine's facts with warning.<code> keys for both. Throws Failure: 2 for a CPU
// outside the allowed mask, 4 for `cycles` asked for by name without counters.
std::map<std::string, std::string> settle(harness::Experiment& experiment, bool cycles_by_preset);

// Throws std::invalid_argument (a state SPEC), Failure (2) for a target this build does not have.
std::unique_ptr<harness::Target> make_target(const harness::Experiment& experiment);

// The machine's state around a run; a fake target has none.
class MachineWatch {
  public:
    explicit MachineWatch(const harness::Experiment& experiment);

    // Measures; returns machine.* and load_start.
    std::map<std::string, std::string> before();

    // Measures again and stores machine.*.end, load_end, and a warning for what moved materially.
    void after(datasets::Store& store, datasets::Id id, harness::Observer& observer) const;

  private:
    bool real_ = true;
    int worker_cpu_ = 0;
    int receiver_cpu_ = 0;
    harness::MachineState before_;
};

// A run resumed on another machine, kernel or build is another run: stored as a warning.
void warn_if_elsewhere(datasets::Store& store, const datasets::ExperimentRecord& record,
                       const std::map<std::string, std::string>& now, harness::Observer& observer);

}  // namespace vsb::cli
