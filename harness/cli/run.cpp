#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>

#include "datasets/store.h"
#include "harness/build_facts.h"
#include "harness/cli/command.h"
#include "harness/cli/common_options.h"
#include "harness/cli/failure.h"
#include "harness/cli/interrupt.h"
#include "harness/cli/output.h"
#include "harness/cli/progress.h"
#include "harness/cli/recorded.h"
#include "harness/cli/run_setup.h"
#include "harness/experiment_toml.h"
#include "harness/presets.h"
#include "harness/runner.h"

namespace vsb::cli {
namespace {

using datasets::ExperimentRecord;
using datasets::ExperimentStatus;
using datasets::Store;
using harness::Experiment;
using harness::Settings;

struct RunCommand {
    std::string source;                       // preset or file
    std::map<std::string, std::string> keys;  // experiment keys given as options, by key name
    std::string resume;
    bool quiet = false;
    StoreOption store;
    FormatOption format;
};

std::string option_name(std::string_view key) {
    std::string name = "--" + std::string(key);
    std::ranges::replace(name, '_', '-');
    return name;
}

Settings given_settings(const RunCommand& options) {
    Settings settings;
    for (const auto& [key, text] : options.keys) {
        try {
            harness::find_key(key)->set(settings, text);
        } catch (const std::invalid_argument& error) {
            throw Failure(kUsage, option_name(key) + ": " + error.what());
        }
    }
    return settings;
}

std::string preset_names() {
    std::string names;
    for (const harness::Preset& preset : harness::presets()) {
        if (!names.empty()) names += ", ";
        names += preset.name;
    }
    return names;
}

Settings source_settings(const std::string& source) {
    if (source.empty()) return {};
    if (const harness::Preset* preset = harness::find_preset(source)) {
        return harness::parse_settings_toml(preset->toml, source);
    }
    if (!std::filesystem::exists(source)) {
        throw Failure(
            kUsage, source + ": is neither a preset nor a file (presets: " + preset_names() + ")");
    }
    Settings settings = harness::parse_settings_toml(harness::read_settings_file(source), source);
    if (!settings.name) settings.name = std::filesystem::path(source).stem().string();
    return settings;
}

std::uint64_t drawn_seed() {
    std::random_device device;
    return ((static_cast<std::uint64_t>(device()) << 32) | device()) & harness::kMaxSeed;
}

Experiment new_experiment(const RunCommand& options) {
    const Settings given = given_settings(options);
    Settings all = harness::merged(source_settings(options.source), given);
    if (!all.seed) all.seed = drawn_seed();
    Experiment experiment = harness::make_experiment(all);
    if (all.pairs && *all.pairs != experiment.pairs) {
        say("vsockbench: pairs: " + std::to_string(*all.pairs) + " rounded up to " +
            std::to_string(experiment.pairs) + ", so that both orders are equally often");
    }
    return experiment;
}

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

ProgressStyle progress_style(const RunCommand& options) {
    const char* no_color = std::getenv("NO_COLOR");
    const bool plain = no_color != nullptr && *no_color != '\0';
    const bool terminal = stderr_is_terminal();
    return {terminal, terminal && !plain, options.quiet};
}

// The table of what was just recorded, and the code that says how it went.
int conclude(const RunCommand& options, const std::string& format, const Store& store,
             const harness::RunOutcome& outcome) {
    const std::string id = std::to_string(outcome.id);
    const std::string file = options.store.file().string();
    const bool stopped = outcome.status == ExperimentStatus::interrupted;
    // First where it is: what follows goes to a pipe that may be closed.
    if (stopped) {
        say("vsockbench: interrupted: " + std::to_string(outcome.pairs_whole) + " of " +
            std::to_string(outcome.pairs_planned) +
            " pairs are recorded (go on with: vsockbench run --resume " + id + " --db " + file +
            ")");
    } else if (!options.quiet) {
        say("recorded as experiment " + id + " in " + file);
    }
    if (outcome.pairs_lost > 0) {
        say("vsockbench: run: " + std::to_string(outcome.pairs_lost) + " of " +
            std::to_string(outcome.pairs_planned) +
            " pairs were lost, the first: " + outcome.first_failure +
            " (measure them again with: vsockbench run --resume " + id + " --db " + file + ")");
    }
    reports::Comparison comparison = compare_recorded(store, store.find(id), {});
    // A run that may go on is still under way: a p-value now would be a look before the end.
    if (stopped) comparison.interim = true;
    write_result(rendered(comparison, format));
    return stopped ? kInterrupted : outcome.pairs_lost > 0 ? kNotMeasured : kDone;
}

int run_new(const RunCommand& options, const std::string& format) {
    Experiment experiment = new_experiment(options);
    const bool cycles_by_preset =
        harness::find_preset(options.source) != nullptr && !options.keys.contains("workload");
    harness::RunFacts facts;
    facts.environment = settle(experiment, cycles_by_preset);
    const auto target = make_target(experiment);
    Store store = Store::open(options.store.file(), datasets::OpenMode::read_write);

    MachineWatch watch(experiment);
    facts.environment.merge(watch.before());
    facts.tool_version = harness::kVersion;
    if (experiment.target == "engine") facts.project_commit = harness::kCommit;
    const harness::Clock clock = harness::system_clock();
    Progress progress(progress_style(options), clock, {});
    for (const auto& [key, text] : facts.environment) {
        if (key.starts_with(harness::kWarningPrefix)) {
            progress.warning(key.substr(harness::kWarningPrefix.size()), text);
        }
    }
    watch_interrupts();
    const auto outcome =
        harness::run_experiment({store, *target, progress, clock, interrupted}, experiment, facts);
    watch.after(store, outcome.id, progress);
    progress.finish();
    return conclude(options, format, store, outcome);
}

int run_resumed(const RunCommand& options, const std::string& format) {
    if (!options.source.empty() || !options.keys.empty()) {
        const std::string other =
            options.source.empty() ? option_name(options.keys.begin()->first) : options.source;
        throw Failure(kUsage, "--resume: goes with no other choice of what to run, " + other +
                                  " (leave it out)");
    }
    // A store that is not there has nothing to resume and is not made.
    if (!std::filesystem::exists(options.store.file())) {
        throw Failure(kUsage, "--resume: there is no store " + options.store.file().string() +
                                  " (name it with --db)");
    }
    Store store = Store::open(options.store.file(), datasets::OpenMode::read_write);
    const ExperimentRecord record = store.find(options.resume);
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
    Progress progress(progress_style(options), clock, known_pairs(store, record));
    watch_interrupts();
    const auto outcome = harness::resume_experiment({store, *target, progress, clock, interrupted},
                                                    experiment, record);
    warn_if_elsewhere(store, record, environment, progress);
    watch.after(store, outcome.id, progress);
    progress.finish();
    return conclude(options, format, store, outcome);
}

int run(const RunCommand& options) {
    const std::string format = options.format.chosen();
    return options.resume.empty() ? run_new(options, format) : run_resumed(options, format);
}

std::string preset_help() {
    std::string text = "Presets:\n";
    for (const harness::Preset& preset : harness::presets()) {
        text += "  " + std::string(preset.name) + ": " + std::string(preset.summary) + "\n";
    }
    return text;
}

}  // namespace

Command add_run(CLI::App& program) {
    auto options = std::make_shared<RunCommand>();
    CLI::App* app =
        program.add_subcommand("run", "run an A/B experiment, record it, print the table");
    app->add_option("PRESET|FILE.toml", options->source, "an experiment (none: the options below)");
    for (const harness::Key& key : harness::keys()) {
        app->add_option_function<std::string>(
               option_name(key.name),
               [options, name = std::string(key.name)](const std::string& text) {
                   options->keys[name] = text;
               },
               std::string(key.summary))
            ->type_name(std::string(key.value));
    }
    app->add_option("--resume", options->resume, "go on with this experiment of the store")
        ->type_name("EXPERIMENT");
    app->add_flag("--quiet", options->quiet, "no progress");
    options->store.add_to(*app);
    options->format.add_to(*app, {"text", "json", "csv", "markdown", "cover-letter"});
    app->footer(preset_help() +
                "\nExamples:\n"
                "  vsockbench run demo\n"
                "  vsockbench run --a policy=per-packet --b policy=lock-batch,max-pkts=8 "
                "--payloads 64,4K --workload fixed --bytes-scale 0.1");
    return {app, [options] { return run(*options); }};
}

}  // namespace vsb::cli
