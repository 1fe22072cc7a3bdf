#include "harness/cli/experiment_source.h"

#include <filesystem>
#include <random>
#include <stdexcept>

#include "harness/cli/failure.h"
#include "harness/cli/output.h"
#include "harness/experiment_toml.h"
#include "harness/presets.h"
#include "stats/comparison.h"

namespace vsb::cli {

using harness::Experiment;
using harness::Settings;

namespace {

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

}  // namespace

Experiment new_experiment(const std::string& source, const Settings& given) {
    Settings base = source_settings(source);
    // A preset's fixed number of pairs is no ceiling for a run that plans its own.
    if (given.until_halfwidth.value_or(0) > 0 && !base.until_halfwidth) base.pairs.reset();
    // A preset's states are its target's.
    if (given.target && base.target && *given.target != *base.target) {
        base.a.reset();
        base.b.reset();
    }
    Settings all = harness::merged(base, given);
    if (!all.seed) all.seed = drawn_seed();
    Experiment experiment = harness::make_experiment(all);
    if (!experiment.beside.empty()) {
        try {
            stats::parse_method(experiment.beside);
        } catch (const std::invalid_argument& error) {
            throw Failure(kUsage, std::string("--beside: ") + error.what());
        }
    }
    if (all.pairs && *all.pairs != experiment.pairs) {
        say("vsockbench: pairs: " + std::to_string(*all.pairs) + " rounded up to " +
            std::to_string(experiment.pairs) + ", so that both orders are equally often");
    }
    return experiment;
}

}  // namespace vsb::cli
