#include "harness/cli/conclude.h"

#include "harness/cli/failure.h"
#include "harness/cli/output.h"
#include "harness/cli/recorded.h"

namespace vsb::cli {

// The table of what was just recorded, and the code that says how it went.
int conclude(const Measured& measured, const Conclusion& how) {
    const harness::RunOutcome& outcome = measured.outcome;
    const std::string id = std::to_string(outcome.id);
    const std::string file = how.db.string();
    const bool stopped = outcome.status == datasets::ExperimentStatus::interrupted;
    // First where it is: what follows goes to a pipe that may be closed.
    if (stopped) {
        say("vsockbench: interrupted: " + std::to_string(outcome.pairs_whole) + " of " +
            std::to_string(outcome.pairs_planned) + " pairs are recorded (go on with: vsockbench " +
            how.command + " --resume " + id + " --db " + file + ")");
    } else if (!how.quiet) {
        say("recorded as experiment " + id + " in " + file);
    }
    if (outcome.pairs_lost > 0) {
        say("vsockbench: run: " + std::to_string(outcome.pairs_lost) + " of " +
            std::to_string(outcome.pairs_planned) + " pairs were lost, the first: " +
            outcome.first_failure + " (measure them again with: vsockbench " + how.command +
            " --resume " + id + " --db " + file + ")");
    }
    const datasets::ExperimentRecord record = measured.store.find(id);
    reports::Comparison comparison = compare_recorded(measured.store, record, {});
    // A run that may go on is still under way: a p-value now would be a look before the end.
    if (stopped) comparison.interim = true;
    how.write(measured.store, record, comparison);
    return stopped ? kInterrupted : outcome.pairs_lost > 0 ? kNotMeasured : kDone;
}

}  // namespace vsb::cli
