#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>

#include "datasets/store.h"
#include "harness/cli/command.h"
#include "harness/cli/common_options.h"
#include "harness/cli/conclude.h"
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

Conclusion conclusion_of(const RunCommand& options, const std::string& format) {
    Conclusion how;
    how.db = options.store.file();
    how.quiet = options.quiet;
    how.write = [format](const datasets::Store&, const datasets::ExperimentRecord&,
                         const reports::Comparison& comparison) {
        write_result(rendered(comparison, format));
    };
    return how;
}

int run_new(const RunCommand& options, const std::string& format) {
    const bool cycles_by_preset =
        harness::find_preset(options.source) != nullptr && !options.keys.contains("workload");
    const Measured measured = measure_new(new_experiment(options.source, given_settings(options)),
                                          cycles_by_preset, options.store.file(), options.quiet);
    return conclude(measured, conclusion_of(options, format));
}

int run_resumed(const RunCommand& options, const std::string& format) {
    if (!options.source.empty() || !options.keys.empty()) {
        const std::string other =
            options.source.empty() ? option_name(options.keys.begin()->first) : options.source;
        throw Failure(kUsage, "--resume: goes with no other choice of what to run, " + other +
                                  " (leave it out)");
    }
    const Measured measured = measure_on(options.resume, options.store.file(), options.quiet);
    return conclude(measured, conclusion_of(options, format));
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
