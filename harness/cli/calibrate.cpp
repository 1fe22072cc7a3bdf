#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "harness/calibration.h"
#include "harness/cli/command.h"
#include "harness/cli/common_options.h"
#include "harness/cli/failure.h"
#include "harness/cli/output.h"
#include "harness/clock.h"
#include "harness/cpus.h"
#include "harness/environment.h"
#include "reports/escape.h"
#include "reports/grid.h"

namespace vsb::cli {
namespace {

using harness::Calibration;
using harness::CostEstimate;

// Above this share of the CPUs' time in other hands a cost is as much theirs as the machine's.
constexpr double kMuchLoad = 0.10;

struct CalibrateCommand {
    std::string cpus;
    std::string file;
    FormatOption format;
};

struct TwoCpus {
    int first = 0;
    int second = 0;
};

// The two asked for, or the first two there are; one alone where there is no second.
TwoCpus chosen_cpus(const std::string& text) {
    const std::vector<int> allowed = harness::allowed_cpus();
    if (text.empty()) return {allowed.front(), allowed[allowed.size() > 1 ? 1 : 0]};
    std::vector<int> wanted;
    try {
        wanted = harness::parse_cpu_list(text);
    } catch (const std::invalid_argument& error) {
        throw Failure(kUsage, std::string("--cpus: ") + error.what());
    }
    if (wanted.size() != 2) {
        throw Failure(kUsage, "--cpus: '" + text + "' is not two CPUs (write 0,1)");
    }
    for (const int cpu : wanted) {
        if (std::find(allowed.begin(), allowed.end(), cpu) != allowed.end()) continue;
        throw Failure(kUsage, "--cpus: CPU " + std::to_string(cpu) +
                                  " is not among those allowed, " +
                                  harness::cpu_list_text(allowed));
    }
    return {wanted[0], wanted[1]};
}

std::string summary_of(const CostEstimate& cost) {
    const auto index = static_cast<std::size_t>(engine::find_cost(cost.name));
    return std::string(engine::cost_table()[index].summary);
}

std::string as_text(const Calibration& calibration, std::size_t columns) {
    std::string text =
        reports::wrap(fmt::format("costs on CPUs {} of {}, {}, {}", calibration.cpus,
                                  reports::ascii(calibration.cpu_model),
                                  reports::ascii(calibration.kernel), calibration.measured),
                      columns, "", "  ");
    reports::Grid grid;
    grid.columns = {{"cost", reports::Align::left, 0},
                    {"ns", reports::Align::right, 0},
                    {"96% interval", reports::Align::right, 0},
                    {"what is paid", reports::Align::left, 1}};
    for (const CostEstimate& cost : calibration.costs) {
        grid.rows.push_back({cost.name, fmt::format("{:.4g}", cost.ns),
                             cost.measured()
                                 ? fmt::format("[{:.4g}, {:.4g}]", *cost.low_ns, *cost.high_ns)
                                 : "not measured",
                             summary_of(cost)});
    }
    return text + "\n" + reports::draw_folded(grid, columns) + "\n" +
           reports::wrap(fmt::format("not measured: the built-in figure. What only a kernel or a "
                                     "hypervisor charges is 0, as in a measured run of the engine; "
                                     "entering the kernel takes {:.4g} ns here (to charge it: "
                                     "--costs FILE,system_call=NS)",
                                     calibration.kernel_entry_ns),
                         columns);
}

std::string as_json(const Calibration& calibration) {
    nlohmann::ordered_json document;
    document["schema"] = "vsockbench.calibration/1";
    document["measured"] = calibration.measured;
    document["cpu_model"] = calibration.cpu_model;
    document["kernel"] = calibration.kernel;
    document["cpus"] = calibration.cpus;
    document["kernel_entry_ns"] = calibration.kernel_entry_ns;
    document["load_of_others"] = calibration.load_of_others;
    document["costs"] = nlohmann::ordered_json::array();
    for (const CostEstimate& cost : calibration.costs) {
        nlohmann::ordered_json one{{"name", cost.name}, {"ns", cost.ns}, {"ci", nullptr}};
        if (cost.measured()) one["ci"] = {{"low", *cost.low_ns}, {"high", *cost.high_ns}};
        one["summary"] = summary_of(cost);
        document["costs"].push_back(std::move(one));
    }
    return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

int calibrate(const CalibrateCommand& options) {
    const std::string format = options.format.chosen();
    const TwoCpus cpus = chosen_cpus(options.cpus);
    Calibration calibration = harness::measure_costs(cpus.first, cpus.second);
    const auto environment = harness::read_environment();
    calibration.measured = harness::system_clock().utc_now();
    calibration.cpu_model = environment.at("cpu_model");
    calibration.kernel = environment.at("kernel");
    calibration.cpus = harness::cpu_list_text({cpus.first, cpus.second});
    if (cpus.first == cpus.second) {
        say("vsockbench: calibrate: there is one CPU: what passes between two was not measured");
    }
    if (calibration.load_of_others > kMuchLoad) {
        say(
            fmt::format("vsockbench: calibrate: others took {:.0f}% of these CPUs' time: the costs "
                        "are those of a busy machine (measure again when it is quiet)",
                        calibration.load_of_others * 100));
    }
    const std::string toml = harness::calibration_toml(calibration);
    if (!options.file.empty()) write_result(toml, options.file);
    if (format == "toml") {
        if (options.file.empty()) write_result(toml);
    } else {
        write_result(format == "json" ? as_json(calibration)
                                      : as_text(calibration, stdout_columns()));
    }
    return kDone;
}

}  // namespace

Command add_calibrate(CLI::App& program) {
    auto options = std::make_shared<CalibrateCommand>();
    CLI::App* app = program.add_subcommand(
        "calibrate", "this machine's named costs, for `run --clock virtual`; a few seconds");
    app->add_option("-o,--output", options->file, "keep them in this file, for --costs FILE")
        ->type_name("FILE.toml");
    app->add_option("--cpus", options->cpus, "the two CPUs to measure on (the first two allowed)")
        ->type_name("A,B");
    options->format.add_to(*app, {"text", "toml", "json"});
    app->footer(
        "Medians of nine rounds. System calls, VM exits and interrupts cost the engine nothing: "
        "they\n"
        "stay 0 unless the file or --costs system_call=NS,kick=NS,interrupt=NS says otherwise.\n"
        "\nExamples:\n"
        "  vsockbench calibrate -o machine.toml\n"
        "  vsockbench run --clock virtual --costs machine.toml --payloads 64,4K --workload fixed");
    return {app, [options] { return calibrate(*options); }};
}

}  // namespace vsb::cli
