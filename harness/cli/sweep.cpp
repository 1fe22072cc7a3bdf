#include <algorithm>
#include <memory>
#include <stdexcept>

#include "datasets/store.h"
#include "engine/run.h"
#include "harness/cli/command.h"
#include "harness/cli/common_options.h"
#include "harness/cli/conclude.h"
#include "harness/cli/experiment_source.h"
#include "harness/cli/failure.h"
#include "harness/cli/output.h"
#include "harness/cli/page.h"
#include "harness/settings.h"
#include "harness/state_spec.h"
#include "harness/value_text.h"
#include "reports/gnuplot.h"
#include "reports/sweep.h"
#include "reports/sweep_json.h"
#include "reports/sweep_text.h"

namespace vsb::cli {
namespace {

using harness::Settings;

struct SweepCommand {
    std::string system;
    std::vector<std::string> over;
    std::map<std::string, std::string> keys;  // experiment keys given as options
    std::string a;
    std::string b;
    std::string payload;
    std::string resume;
    std::string file;
    bool quiet = false;
    StoreOption store;
    FormatOption format;
};

// What a trial moves when nothing is said: enough for 30-100 ms on an ordinary CPU.
struct Default {
    const char* system;
    const char* payload;
    const char* bytes_scale;
};
constexpr Default kDefaults[] = {
    {"virtio-vsock-rx", "256", "all=0.08,1K=0.06,4K=0.03,8K=0.03,16K=0.03,64K=0.03"},
    {"vhost-vsock-used", "256", "0.1"},
    {"vhost-net-rx", "64", "0.3"},
    {"dgram-sendmsg", "4K", "0.03"},
};
constexpr Default kOther{"", "64", "1"};  // the fake target

const Default& default_of(const std::string& system) {
    const auto at = std::ranges::find(kDefaults, system, [](const Default& d) { return d.system; });
    return at == std::end(kDefaults) ? kOther : *at;
}

void set(Settings& settings, const std::string& key, const std::string& text,
         const std::string& option) {
    try {
        harness::find_key(key)->set(settings, text);
    } catch (const std::invalid_argument& error) {
        throw Failure(kUsage, option + ": " + error.what());
    }
}

// "policy=lock-batch" as a SPEC of this system.
std::string with_system(const std::string& spec, const std::string& system) {
    const harness::StateSpec given = harness::parse_state_spec(spec);
    if (const std::string* named = given.find("system"); named != nullptr && *named != system) {
        throw Failure(kUsage, "state '" + spec + "': its system is not " + system);
    }
    const engine::SystemInfo& info = engine::find_system(system);
    harness::StateSpec full;
    if (given.find("system") == nullptr && system != "virtio-vsock-rx") {
        full.items.emplace_back("system", info.name);
    }
    full.items.insert(full.items.end(), given.items.begin(), given.items.end());
    return harness::state_spec_text(full);
}

// The axes of all --over together; a payload's values go where payloads go.
void set_axes(Settings& settings, const SweepCommand& options) {
    std::string parameters;
    std::size_t axes = 0;
    for (const std::string& text : options.over) {
        const std::size_t equals = text.find('=');
        if (equals == std::string::npos) {
            throw Failure(kUsage, "--over: '" + text + "' is not NAME=VALUE,VALUE,...");
        }
        ++axes;
        if (text.substr(0, equals) == "payload") {
            if (settings.payloads) throw Failure(kUsage, "--over: payload is given twice");
            set(settings, "payloads", text.substr(equals + 1), "--over payload");
        } else {
            parameters += (parameters.empty() ? "" : ",") + text;
        }
    }
    set(settings, "over", parameters, "--over");
    axes = settings.over->size() + (settings.payloads ? 1U : 0U);
    if (axes == 0 || axes > 2) {
        throw Failure(kUsage, "--over: " + std::to_string(axes) +
                                  " parameters are given (one or two, as --over max-pkts=1,8,64)");
    }
    if (axes == 1 && (settings.payloads ? settings.payloads->size()
                                        : settings.over->front().values.size()) < 2) {
        throw Failure(kUsage, "--over: one value is no sweep (give two or more)");
    }
    if (settings.payloads && !options.payload.empty()) {
        throw Failure(kUsage, "--payload: --over has the payloads (leave one out)");
    }
}

// A's and B's policies where none is named: the system's own, which are the published series'.
std::string default_state(const std::string& system, bool is_a) {
    const engine::SystemInfo& info = engine::find_system(system);
    return "policy=" + (is_a ? info.default_a : info.default_b);
}

harness::Experiment experiment_of(const SweepCommand& options) {
    Settings settings;
    set_axes(settings, options);
    const Default& usual = default_of(options.system);
    if (!settings.payloads) {
        set(settings, "payloads", options.payload.empty() ? usual.payload : options.payload,
            "--payload");
    }
    set(settings, "bytes_scale", usual.bytes_scale, "--bytes-scale");
    settings.workload = {harness::Kind::fixed};
    for (const auto& [key, text] : options.keys) {
        std::string option = "--" + key;
        std::ranges::replace(option, '_', '-');
        set(settings, key, text, option);
    }
    if (settings.workload->size() != 1) {
        throw Failure(kUsage,
                      "--workload: a sweep has one (name one of fixed, matched, rtt, "
                      "cycles)");
    }
    if (options.system == "fake") {
        settings.target = "fake";
        settings.a = options.a;
        settings.b = options.b;
    } else {
        settings.target = "engine";
        const auto state = [&](const std::string& given, bool is_a) {
            return with_system(given.empty() ? default_state(options.system, is_a) : given,
                               options.system);
        };
        settings.a = state(options.a, true);
        settings.b = state(options.b, false);
        const bool has_recv = options.system == "virtio-vsock-rx";
        if (!has_recv && !settings.recv_size) settings.recv_size = 0;
    }
    if (!settings.name) settings.name = "sweep of " + options.system;
    return new_experiment("", settings);
}

std::string plot_svg(const std::vector<reports::Sweep>& sweeps) {
    if (sweeps.empty()) throw Failure(kNotMeasured, "plot: there is no point to draw");
    const reports::Drawing drawing = reports::gnuplot()(reports::sweep_plot(sweeps.front()));
    if (drawing.svg.empty()) {
        throw Failure(kSkipped, "plot: " + drawing.error +
                                    " (install gnuplot-nox; the figures are in the store)");
    }
    return drawing.svg;
}

std::string rendered_sweep(const SweepCommand& options, const std::string& format,
                           const datasets::Store& store, const datasets::ExperimentRecord& record,
                           const reports::Comparison& comparison) {
    if (format == "html") return recorded_page(store, record, comparison);
    const auto series = store.paired(record.id);
    const auto sweeps = reports::sweeps(comparison, series, record.seed);
    if (format == "json") return reports::sweep_json(comparison, sweeps);
    if (format == "csv") return reports::sweep_csv(comparison, sweeps);
    if (format == "svg") return plot_svg(sweeps);
    return reports::sweep_text(comparison, sweeps,
                               options.file.empty() ? stdout_columns() : std::size_t{100});
}

int sweep(const SweepCommand& options) {
    const std::string format = options.format.chosen();
    Conclusion how;
    how.command = "sweep";
    how.db = options.store.file();
    how.quiet = options.quiet;
    how.write = [&](const datasets::Store& store, const datasets::ExperimentRecord& record,
                    const reports::Comparison& comparison) {
        write_result(rendered_sweep(options, format, store, record, comparison), options.file);
    };
    if (options.resume.empty()) {
        if (options.system.empty()) {
            std::string names;
            for (const engine::SystemInfo& info : engine::systems())
                names += (names.empty() ? "" : ", ") + info.name;
            throw Failure(kUsage, "sweep: no SYSTEM is given (choose from " + names + ")");
        }
        return conclude(measure_new(experiment_of(options), false, how.db, how.quiet), how);
    }
    const bool more = !options.system.empty() || !options.over.empty() || !options.keys.empty() ||
                      !options.a.empty() || !options.b.empty() || !options.payload.empty();
    if (more) {
        throw Failure(kUsage, "--resume: goes with no other choice of what to run (leave it out)");
    }
    return conclude(measure_on(options.resume, how.db, how.quiet), how);
}

std::string systems_help() {
    std::string text =
        "Systems and their parameters (the value is given to A and B, but not to a "
        "state\nthat sets it itself; payload is a parameter of each):\n";
    for (const engine::SystemInfo& info : engine::systems()) {
        text += "  " + info.name + ":";
        for (const engine::ParameterInfo& parameter : info.parameters)
            text += " " + parameter.name;
        text += "\n";
    }
    return text;
}

}  // namespace

Command add_sweep(CLI::App& program) {
    auto options = std::make_shared<SweepCommand>();
    CLI::App* app = program.add_subcommand(
        "sweep", "how the change moves with a parameter: A/B pairs at each value, interleaved");
    app->add_option("SYSTEM", options->system, "what of the engine is swept (see below)");
    app->add_option("--over", options->over,
                    "the parameter and its values; twice for a grid; ends may be sizes (64K)")
        ->type_name("NAME=V1,V2,...");
    app->add_option("--a", options->a, "state A (the system's policy before the series)")
        ->type_name("SPEC");
    app->add_option("--b", options->b, "state B (the system's policy with the whole series)")
        ->type_name("SPEC");
    app->add_option("--payload", options->payload, "payload of every point")->type_name("SIZE");
    for (const char* name : {"name", "pairs", "workload", "recv_size", "bytes_scale", "seed",
                             "cpus", "timeout", "clock", "vcpus", "jitter", "costs"}) {
        const harness::Key& key = *harness::find_key(name);
        std::string option = "--" + std::string(name);
        std::ranges::replace(option, '_', '-');
        const std::string summary = key.name == "workload"
                                        ? "one of fixed, matched, rtt, cycles (fixed)"
                                        : std::string(key.summary);
        app->add_option_function<std::string>(
               option,
               [options, key_name = std::string(name)](const std::string& text) {
                   options->keys[key_name] = text;
               },
               summary)
            ->type_name(key.name == "workload" ? "KIND" : std::string(key.value));
    }
    app->add_option("--resume", options->resume,
                    "go on with this sweep of the store; a whole one is printed again")
        ->type_name("EXPERIMENT");
    app->add_flag("--quiet", options->quiet, "no progress");
    app->add_option("-o,--output", options->file, "write the result here instead of stdout")
        ->type_name("FILE");
    options->store.add_to(*app);
    options->format.add_to(*app, {"text", "json", "csv", "html", "svg"});
    app->footer(
        systems_help() +
        "\nExamples:\n"
        "  vsockbench sweep virtio-vsock-rx --over max-pkts=1,2,4,8,16,32,64,128\n"
        "  vsockbench sweep dgram-sendmsg --over threads=1,2,4,16 --format svg -o curve.svg\n"
        "  vsockbench sweep virtio-vsock-rx --over flows=1,2,64 --clock virtual --vcpus 8");
    return {app, [options] { return sweep(*options); }};
}

}  // namespace vsb::cli
