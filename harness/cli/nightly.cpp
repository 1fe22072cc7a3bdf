#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>

#include "datasets/store.h"
#include "harness/cli/command.h"
#include "harness/cli/common_options.h"
#include "harness/cli/experiment_source.h"
#include "harness/cli/failure.h"
#include "harness/cli/gate.h"
#include "harness/cli/history_options.h"
#include "harness/cli/measure.h"
#include "harness/cli/output.h"
#include "harness/cli/page.h"
#include "harness/cli/recorded.h"
#include "harness/cli/report_folder.h"
#include "harness/clock.h"
#include "harness/experiment_toml.h"
#include "harness/presets.h"
#include "harness/value_text.h"
#include "reports/escape.h"
#include "reports/history_csv.h"
#include "reports/history_json.h"
#include "reports/history_text.h"

namespace vsb::cli {
namespace {

using datasets::ExperimentRecord;
using datasets::ExperimentStatus;
using harness::Experiment;

struct NightlyCommand {
    std::string source;
    std::string out = "nightly";
    std::string fail_on = "step,drop";
    bool anew = false;
    StoreOption store;
    HistoryFlags flags;
};

struct NightlyGate {
    HistoryGate history;
    std::vector<stats::Verdict> verdicts;  // of tonight's comparison
};

NightlyGate parse_nightly_gate(const std::string& text) {
    NightlyGate gate;
    std::string verdicts;
    for (const std::string& item : harness::split_list(text)) {
        if (item == "step") {
            gate.history.step = true;
        } else if (item == "drop") {
            gate.history.drop = true;
        } else {
            verdicts += (verdicts.empty() ? "" : ",") + item;
        }
    }
    try {
        if (!verdicts.empty()) gate.verdicts = parse_gate(verdicts);
        if (verdicts.empty() && !gate.history.step && !gate.history.drop) {
            throw std::invalid_argument("names nothing to fail on");
        }
    } catch (const std::invalid_argument& error) {
        throw Failure(kUsage, std::string("--fail-on: ") + error.what() + ", or step, drop");
    }
    return gate;
}

// Tonight's run of an earlier start that was killed: of this name, begun today (UTC), and asking
// for the same. Its CPUs were chosen and its seed drawn then.
std::optional<ExperimentRecord> cut_off_tonight(const std::filesystem::path& db,
                                                const Experiment& wanted) {
    if (!std::filesystem::exists(db)) return std::nullopt;
    const auto store = datasets::Store::open(db, datasets::OpenMode::read_only);
    const std::string today = reports::date_of(harness::system_clock().utc_now());
    const auto all = store.experiments();
    for (auto record = all.rbegin(); record != all.rend(); ++record) {
        if (record->name != wanted.name) continue;
        if (record->status == ExperimentStatus::running) {
            throw Failure(kNotMeasured,
                          "nightly: experiment " + std::to_string(record->id) + " (" +
                              record->name +
                              ") is being run by another process (wait for it, or stop it)");
        }
        if (record->status != ExperimentStatus::interrupted ||
            reports::date_of(record->started) != today) {
            return std::nullopt;
        }
        Experiment begun = harness::parse_experiment_toml(record->config, "its configuration");
        begun.cpus = wanted.cpus;
        begun.seed = wanted.seed;
        if (begun == wanted) return *record;
        return std::nullopt;
    }
    return std::nullopt;
}

Measured measure_tonight(const NightlyCommand& options) {
    const Experiment experiment = new_experiment(options.source, {});
    const auto db = options.store.file();
    const bool quiet = !stderr_is_terminal();
    if (!options.anew) {
        if (const auto record = cut_off_tonight(db, experiment)) {
            say("vsockbench: nightly: going on with experiment " + std::to_string(record->id) +
                ", which was cut off today (--anew starts another)");
            return measure_on(std::to_string(record->id), db, quiet);
        }
    }
    const bool cycles_by_preset = harness::find_preset(options.source) != nullptr;
    return measure_new(experiment, cycles_by_preset, db, quiet);
}

// What the night came to, in the words of a mail.
struct Verdict {
    std::string summary;
    int code = kDone;
};

Verdict judge(const Measured& measured, const ExperimentRecord& record,
              const reports::Comparison& comparison, const reports::History& history,
              const NightlyGate& gate) {
    Verdict verdict;
    verdict.summary = reports::history_summary(history);
    auto failures = history_failures(history, gate.history);
    if (!gate.verdicts.empty()) {
        std::vector<std::string> workloads;
        for (const auto& workload : record.workloads)
            workloads.push_back(workload.name);
        for (const std::string& failure : gate_failures(comparison, workloads, gate.verdicts)) {
            failures.push_back(failure);
            verdict.summary += "  tonight: " + reports::ascii(failure) + "\n";
        }
    }
    const auto& outcome = measured.outcome;
    const bool counted = !history.nights.empty() && history.nights.back().experiment == outcome.id;
    if (!counted || outcome.pairs_lost > 0) {
        const std::string lost = std::to_string(outcome.pairs_lost) + " of " +
                                 std::to_string(outcome.pairs_planned) + " pairs were lost" +
                                 (outcome.first_failure.empty()
                                      ? ""
                                      : ", the first: " + reports::ascii(outcome.first_failure));
        verdict.summary = reports::ascii(record.name) + " " + reports::date_of(record.started) +
                          " (experiment " + std::to_string(outcome.id) +
                          "): " + (counted ? "measured in part: " : "NOT MEASURED: ") + lost +
                          "\n" + verdict.summary;
        verdict.code = kNotMeasured;
    }
    if (!failures.empty() && counted) verdict.code = kGateFailed;
    return verdict;
}

void write_reports(const ReportFolder& folder, const Measured& measured,
                   const ExperimentRecord& record, const reports::Comparison& comparison,
                   const reports::History& history, const std::string& summary) {
    const std::string night =
        reports::date_of(record.started) + "-" + std::to_string(measured.outcome.id);
    folder.write(night, "summary.txt", summary);
    folder.write(night, "report.txt", rendered(comparison, "cover-letter"));
    folder.write(night, "comparison.json", rendered(comparison, "json"));
    folder.write(night, "results.ktap", rendered(comparison, "ktap"));
    folder.write(night, "junit.xml", rendered(comparison, "junit"));
    folder.write(night, "history.txt", reports::history_text(history));
    folder.write(night, "history.json", reports::history_json(history));
    folder.write(night, "history.csv", reports::history_csv(history));
    folder.write(night, "report.html", recorded_page(measured.store, record, comparison));
    folder.write(night, "history.html", history_page(history));
    folder.point_latest(night);
}

int nightly(const NightlyCommand& options) {
    const NightlyGate gate = parse_nightly_gate(options.fail_on);
    const reports::HistoryOptions wanted = options.flags.parsed();
    reports::CompareOptions statistics;
    statistics.margin = wanted.gate.margin;
    if (options.source.empty()) throw Failure(kUsage, "nightly: names no experiment");
    const ReportFolder folder(options.out);

    const Measured measured = measure_tonight(options);
    const std::string id = std::to_string(measured.outcome.id);
    if (measured.outcome.status == ExperimentStatus::interrupted) {
        say("vsockbench: nightly: interrupted: " + std::to_string(measured.outcome.pairs_whole) +
            " of " + std::to_string(measured.outcome.pairs_planned) +
            " pairs are recorded as experiment " + id +
            " (the same command goes on with it today)");
        return kInterrupted;
    }
    const ExperimentRecord record = measured.store.find(id);
    const auto comparison = compare_recorded(measured.store, record, statistics);
    const auto history = recorded_history(measured.store, record.name, wanted);
    const Verdict verdict = judge(measured, record, comparison, history, gate);
    // First what a mail carries: a full disk must not silence an alarm.
    write_result(verdict.summary);
    write_reports(folder, measured, record, comparison, history, verdict.summary);
    return verdict.code;
}

}  // namespace

Command add_nightly(CLI::App& program) {
    auto options = std::make_shared<NightlyCommand>();
    CLI::App* app = program.add_subcommand(
        "nightly", "run an experiment, compare it with its past, write reports, gate");
    app->add_option("FILE.toml|PRESET", options->source, "the experiment")->required();
    app->add_option("--out", options->out,
                    "folder of the reports: one folder a night, and latest (nightly)")
        ->type_name("DIR");
    app->add_option("--fail-on", options->fail_on,
                    "exit 1 on: step, drop (see history), or a verdict of tonight alone: faster, "
                    "slower, equivalent, inconclusive (step,drop)")
        ->type_name("KIND,...");
    app->add_flag("--anew", options->anew, "do not go on with a run of today that was cut off");
    options->store.add_to(*app);
    options->flags.add_to(*app);
    app->footer(
        "One line on stdout when all is well, else what is worse, since when and by how much.\n"
        "Exit codes: 0 quiet, 1 the gate failed, 3 not measured (pairs lost, another nightly "
        "under\n"
        "way, a full disk), 2 bad input or an unwritable folder, 130 interrupted.\n"
        "\nExamples:\n"
        "  vsockbench nightly vsock.toml --out /srv/vsock --db /srv/vsock/runs.db\n"
        "  vsockbench nightly vsock.toml --margin 2% --accepted 2026-10-12");
    return {app, [options] { return nightly(*options); }};
}

}  // namespace vsb::cli
