#include "harness/cli/measure.h"

#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "harness/build_facts.h"
#include "harness/cli/failure.h"
#include "harness/cli/interrupt.h"
#include "harness/cli/output.h"
#include "harness/cli/pilot_planner.h"
#include "harness/cli/progress.h"
#include "harness/cli/run_setup.h"
#include "harness/experiment_toml.h"

namespace vsb::cli {
namespace {

using datasets::ExperimentRecord;
using datasets::ExperimentStatus;
using datasets::Store;
using harness::Experiment;

std::map<std::string, std::vector<stats::Pair>> known_pairs(const Store& store,
                                                            const ExperimentRecord& record) {
    std::map<std::string, std::vector<stats::Pair>> known;
    for (const auto& series : store.paired(record.id)) {
        if (known.contains(series.workload)) continue;  // the headline metric comes first
        for (const auto& value : series.pairs) {
            known[series.workload].push_back(
                {value.a, value.b,
                 value.order == datasets::PairOrder::ab ? stats::Order::ab : stats::Order::ba});
        }
    }
    return known;
}

ProgressStyle progress_style(bool quiet) {
    const char* no_color = std::getenv("NO_COLOR");
    const bool plain = no_color != nullptr && *no_color != '\0';
    const bool terminal = stderr_is_terminal();
    return {terminal, terminal && !plain, quiet};
}

}  // namespace

Measured measure_new(Experiment experiment, bool cycles_by_preset, const std::filesystem::path& db,
                     bool quiet) {
    harness::RunFacts facts;
    facts.environment = settle(experiment, cycles_by_preset);
    const auto target = make_target(experiment);
    Store store = Store::open(db, datasets::OpenMode::read_write);

    MachineWatch watch(experiment);
    facts.environment.merge(watch.before());
    facts.tool_version = harness::kVersion;
    if (experiment.target == "engine") facts.project_commit = harness::kCommit;
    const harness::Clock clock = harness::system_clock();
    Progress progress(progress_style(quiet), clock, {});
    for (const auto& [key, text] : facts.environment) {
        if (key.starts_with(harness::kWarningPrefix)) {
            progress.warning(key.substr(harness::kWarningPrefix.size()), text);
        }
    }
    watch_interrupts();
    auto outcome = harness::run_experiment(
        {store, *target, progress, clock, interrupted, plan_from_pilot}, experiment, facts);
    watch.after(store, outcome.id, progress);
    progress.finish();
    return {std::move(store), std::move(outcome)};
}

Measured measure_on(const std::string& id_or_last, const std::filesystem::path& db, bool quiet) {
    // A store that is not there has nothing to resume and is not made.
    if (!std::filesystem::exists(db)) {
        throw Failure(kUsage,
                      "--resume: there is no store " + db.string() + " (name it with --db)");
    }
    Store store = Store::open(db, datasets::OpenMode::read_write);
    const ExperimentRecord record = store.find(id_or_last);
    if (record.status == ExperimentStatus::running) {
        throw Failure(kUsage, "--resume: experiment " + std::to_string(record.id) +
                                  " is being run by another process (wait for it, or stop it)");
    }
    const std::string config_name = "experiment " + std::to_string(record.id) + "'s configuration";
    Experiment experiment = harness::parse_experiment_toml(record.config, config_name);
    const auto environment = settle(experiment, false);
    const auto target = make_target(experiment);
    MachineWatch watch(experiment);
    watch.before();
    const harness::Clock clock = harness::system_clock();
    Progress progress(progress_style(quiet), clock, known_pairs(store, record));
    watch_interrupts();
    auto outcome = harness::resume_experiment(
        {store, *target, progress, clock, interrupted, plan_from_pilot}, experiment, record);
    warn_if_elsewhere(store, record, environment, progress);
    watch.after(store, outcome.id, progress);
    progress.finish();
    return {std::move(store), std::move(outcome)};
}

}  // namespace vsb::cli
