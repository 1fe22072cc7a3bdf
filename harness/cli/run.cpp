#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>

#include "datasets/store.h"
#include "harness/cli/command.h"
#include "harness/cli/common_options.h"
#include "harness/cli/experiment_source.h"
#include "harness/cli/failure.h"
#include "harness/cli/measure.h"
#include "harness/cli/output.h"
#include "harness/cli/recorded.h"
#include "harness/presets.h"
#include "harness/settings.h"

namespace vsb::cli {
namespace {

using datasets::ExperimentStatus;
using datasets::Store;
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
    const bool cycles_by_preset =
        harness::find_preset(options.source) != nullptr && !options.keys.contains("workload");
    const Measured measured = measure_new(new_experiment(options.source, given_settings(options)),
                                          cycles_by_preset, options.store.file(), options.quiet);
    return conclude(options, format, measured.store, measured.outcome);
}

int run_resumed(const RunCommand& options, const std::string& format) {
    if (!options.source.empty() || !options.keys.empty()) {
        const std::string other =
            options.source.empty() ? option_name(options.keys.begin()->first) : options.source;
        throw Failure(kUsage, "--resume: goes with no other choice of what to run, " + other +
                                  " (leave it out)");
    }
    const Measured measured = measure_on(options.resume, options.store.file(), options.quiet);
    return conclude(options, format, measured.store, measured.outcome);
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
