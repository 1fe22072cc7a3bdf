#include "harness/cli/run_setup.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "harness/build_facts.h"
#include "harness/calibration.h"
#include "harness/cli/failure.h"
#include "harness/cli/guest_options.h"
#include "harness/cpus.h"
#include "harness/engine_target.h"
#include "harness/environment.h"
#include "harness/fake_target.h"
#include "harness/guest/target.h"
#include "harness/host/host_target.h"
#include "harness/runner.h"
#include "receivers/perf/counters.h"
#include "transport/errors.h"

namespace vsb::cli {
namespace {

using harness::Experiment;
using harness::Kind;

void settle_cpus(Experiment& experiment, std::map<std::string, std::string>& environment) {
    const auto allowed = harness::allowed_cpus();
    try {
        harness::check_allowed(experiment.cpus, allowed);
    } catch (const std::invalid_argument& error) {
        throw Failure(kUsage, std::string("--cpus: ") + error.what());
    }
    const bool host = experiment.target == "host";
    try {
        experiment.cpus = host ? harness::host_placement(experiment.cpus, allowed)
                               : harness::with_defaults(experiment.cpus, allowed);
    } catch (const std::invalid_argument& error) {
        throw Failure(kUsage, std::string("--cpus: ") + error.what());
    }
    if (experiment.cpus.receiver == (host ? experiment.cpus.sender : experiment.cpus.worker)) {
        environment["warning.one-cpu"] =
            std::string("receiver and ") + (host ? "sender" : "worker") + " share CPU " +
            std::to_string(*experiment.cpus.receiver) +
            ": they take turns, which no receive path with two CPUs does";
    }
}

// A guest has hardware counters under KVM only.
std::optional<std::string> guest_counters_missing() {
    if (access("/dev/kvm", R_OK | W_OK) == 0) return std::nullopt;
    return "guests without KVM (User Mode Linux, TCG) have none";
}

void settle_cycles(Experiment& experiment, bool by_preset,
                   std::map<std::string, std::string>& environment) {
    const auto cycles = std::ranges::find(experiment.kinds, Kind::cycles);
    if (cycles == experiment.kinds.end()) return;
    const auto missing =
        experiment.target == "guest" ? guest_counters_missing() : perf::unavailable_reason();
    if (!missing) return;
    if (!by_preset) {
        throw Failure(kSkipped, "cycles: this machine gives no hardware counters: " + *missing +
                                    " (leave cycles out of --workload)");
    }
    experiment.kinds.erase(cycles);
    environment["warning.cycles-skipped"] =
        "cycles were not measured: this machine gives no hardware counters: " + *missing;
}

// Nothing of this machine is in a model: its CPUs need not exist, its prices come from a list.
std::map<std::string, std::string> settle_model(Experiment& experiment, bool cycles_by_preset) {
    std::map<std::string, std::string> environment;
    for (auto& [key, value] : harness::read_environment()) {
        if (key == "compiler" || key == "build_type") environment[key] = value;
    }
    harness::PriceList prices;
    try {
        prices = harness::resolve_costs(experiment.costs);
    } catch (const std::invalid_argument& error) {
        throw Failure(kUsage, std::string("--costs: ") + error.what());
    } catch (const std::system_error& error) {
        throw Failure(kUsage, std::string("--costs: ") + error.what() +
                                  " (make one with: vsockbench calibrate -o FILE)");
    }
    experiment.costs = harness::costs_text(prices.costs);
    environment["model.costs_from"] = prices.source;
    if (!prices.calibrated) {
        environment["warning.model-costs"] =
            "the costs are " + prices.source +
            " (measure them with `vsockbench calibrate -o FILE`, use them with --costs FILE)";
    }
    const auto cycles = std::ranges::find(experiment.kinds, Kind::cycles);
    if (cycles != experiment.kinds.end()) {
        if (!cycles_by_preset || experiment.kinds.size() == 1) {
            throw Failure(kUsage,
                          "cycles: hardware counts them, and the virtual clock runs on none (leave "
                          "cycles out of --workload)");
        }
        experiment.kinds.erase(cycles);
        environment["warning.cycles-skipped"] =
            "cycles were left out: hardware counts them, and the virtual clock runs on none";
    }
    // The receivers go round the CPUs that nobody is pinned to.
    if (!experiment.cpus.worker) experiment.cpus.worker = experiment.vcpus > 1 ? 1 : 0;
    return environment;
}

// The tools are installed beside the program that drives them.
std::string own_folder() {
    std::error_code error;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
    return error ? "." : program.parent_path().string();
}

}  // namespace

std::map<std::string, std::string> settle(Experiment& experiment, bool cycles_by_preset) {
    if (harness::is_model(experiment)) return settle_model(experiment, cycles_by_preset);
    auto environment = harness::read_environment();
    if (experiment.target == "fake") return environment;
    if (experiment.target == "guest") {
        // Its threads float on this machine; its own CPUs are the target's business.
        if (experiment.cpus != harness::CpuPlacement{}) {
            throw Failure(kUsage, "--cpus: a guest's placement is its own (leave it out)");
        }
    } else {
        settle_cpus(experiment, environment);
    }
    settle_cycles(experiment, cycles_by_preset, environment);
    return environment;
}

std::unique_ptr<harness::Target> make_target(const Experiment& experiment) {
    if (experiment.target == "engine") return harness::make_engine_target(experiment);
    if (experiment.target == "host") {
        try {
            return harness::make_host_target(experiment, own_folder());
        } catch (const transport::Unavailable& error) {
            throw Failure(kSkipped, std::string("--endpoint vsock: ") + error.what());
        }
    }
    if (experiment.target == "guest") {
        try {
            return guest::make_guest_target(experiment, guest_options(experiment.guest));
        } catch (const guest::KernelUnavailable& error) {
            throw Failure(kSkipped, error.what());
        }
    }
    if (experiment.target == "fake") {
        return std::make_unique<harness::FakeTarget>(
            harness::fake_script(experiment.a, experiment.b));
    }
    throw Failure(kUsage, "--target: this build has no target '" + experiment.target +
                              "' (choose engine, host or guest)");
}

MachineWatch::MachineWatch(const Experiment& experiment)
    : real_(experiment.target != "fake" && !harness::is_model(experiment)),
      worker_cpu_(experiment.cpus.worker.value_or(experiment.cpus.sender.value_or(0))),
      receiver_cpu_(experiment.cpus.receiver.value_or(0)) {}

std::map<std::string, std::string> MachineWatch::before() {
    if (!real_) return {};
    before_ = harness::measure_machine_state(worker_cpu_, receiver_cpu_);
    auto environment = harness::machine_environment(before_, "");
    environment["load_start"] = harness::read_load();
    return environment;
}

void MachineWatch::after(datasets::Store& store, datasets::Id id,
                         harness::Observer& observer) const {
    if (!real_) return;
    store.set_environment(id, "load_end", harness::read_load());
    const auto after = harness::measure_machine_state(worker_cpu_, receiver_cpu_);
    for (const auto& [key, value] : harness::machine_environment(after, ".end")) {
        store.set_environment(id, key, value);
    }
    for (const auto& warning : harness::machine_moves(before_, after)) {
        store.set_environment(id, std::string(harness::kWarningPrefix) + warning.code,
                              warning.text);
        observer.warning(warning.code, warning.text);
    }
}

void warn_if_elsewhere(datasets::Store& store, const datasets::ExperimentRecord& record,
                       const std::map<std::string, std::string>& now, harness::Observer& observer) {
    std::string differs;
    const auto check = [&](const std::string& what, const std::string& then,
                           const std::string& here) {
        if (then == here) return;
        differs += (differs.empty() ? "" : "; ") + what + ": " + then + ", now " + here;
    };
    for (const char* key : {"kernel", "cpu_model", "compiler", "build_type"}) {
        const auto then = record.environment.find(key);
        const auto here = now.find(key);
        if (then != record.environment.end() && here != now.end()) {
            check(key, then->second, here->second);
        }
    }
    check("tool", record.tool_version, harness::kVersion);
    if (record.target == "engine" || record.target == "model")
        check("commit", record.project_commit, harness::kCommit);
    if (differs.empty()) return;
    const std::string text = "the run was resumed under other conditions (" + differs + ")";
    store.set_environment(record.id, "warning.resumed-elsewhere", text);
    observer.warning("resumed-elsewhere", text);
}

}  // namespace vsb::cli
