#include "harness/engine_target.h"

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <utility>

#include "engine/run.h"
#include "harness/calibration.h"
#include "harness/engine_figures.h"
#include "harness/engine_state.h"
#include "harness/state_spec.h"
#include "harness/value_text.h"
#include "receivers/perf/counters.h"

namespace vsb::harness {
namespace {

// Counters of the worker's thread from just before to just after its measured part.
class WorkerCounters {
  public:
    void attach(engine::Hooks& hooks) {
        hooks.worker_starts = [this](pid_t tid) {
            group_.emplace(perf::Group::of_thread(tid));
            group_->start();
        };
        hooks.worker_ends = [this](pid_t) {
            if (group_) counts_ = group_->stop();
        };
    }

    const std::optional<perf::Counts>& counts() const { return counts_; }

  private:
    std::optional<perf::Group> group_;
    std::optional<perf::Counts> counts_;
};

std::optional<engine::VirtualMachine> machine_of(const Experiment& experiment) {
    if (!is_model(experiment)) return {};
    engine::VirtualMachine machine;
    machine.cpus = static_cast<unsigned>(experiment.vcpus);
    machine.jitter = experiment.jitter;
    machine.costs = parse_costs(experiment.costs, engine::default_costs());
    for (const auto& [role, cpu] : roles(experiment.cpus)) {
        if (static_cast<std::uint64_t>(cpu) < experiment.vcpus) continue;
        throw std::invalid_argument("cpus: " + role + "=" + std::to_string(cpu) +
                                    ", but the virtual machine's CPUs are 0 to " +
                                    std::to_string(experiment.vcpus - 1) +
                                    " (give it more with vcpus)");
    }
    return machine;
}

class EngineTarget : public Target {
  public:
    explicit EngineTarget(const Experiment& experiment)
        : machine_(machine_of(experiment)),
          specs_{experiment.a, experiment.b},
          axes_(experiment.over),
          system_(parse_engine_state(experiment.a, true, machine_).system),
          cpus_(experiment.cpus) {
        const std::string other = parse_engine_state(experiment.b, false, machine_).system;
        if (system_ != other) {
            throw std::invalid_argument("states of two systems, " + system_ + " and " + other +
                                        ", do not compare");
        }
        for (const Axis& axis : axes_) {
            const auto sets = [&](const std::string& spec) {
                return parse_state_spec(spec).find(axis.name) != nullptr;
            };
            if (std::ranges::all_of(specs_, sets)) {
                throw std::invalid_argument("over: both states set " + axis.name +
                                            " themselves, so that nothing would vary (leave it "
                                            "out of one)");
            }
        }
        // Now rather than in the middle of a run: what no state at no point would measure.
        for (const Workload& workload : workloads_of(experiment)) {
            for (const std::size_t state : {0U, 1U}) {
                engine::validate(state_at(state, workload.point), work_of(workload, 1));
            }
        }
        if (cpus_.sender) {
            throw std::invalid_argument(
                "cpus: the engine has no sender of its own (its device side is `device`)");
        }
        placement_.receiver_cpu = cpus_.receiver;
        placement_.worker_cpu = cpus_.worker;
        placement_.device_cpu = cpus_.device;
    }

    // Every trial of the engine builds its rings, sockets and threads anew: nothing is kept.
    void prepare(std::size_t) override {}

    TrialResult run(const TrialRequest& request) override {
        const Workload& workload = request.workload;
        const engine::Workload work = work_of(workload, request.seed);
        TrialResult result;
        result.failure = lost_cpu();
        if (!result.failure.empty()) return result;
        WorkerCounters counters;
        engine::Hooks hooks;
        if (workload.kind == Kind::cycles) counters.attach(hooks);
        engine::State state = state_at(request.state, workload.point);
        if (state.virtual_machine) state.virtual_machine->seed = request.seed;
        const engine::Outcome outcome =
            engine::run(state, work, placement_, static_cast<std::uint64_t>(request.timeout_ns),
                        hooks, request.stop);
        result = engine_figures(state.system, workload, outcome, counters.counts());
        if (const std::string lost = lost_cpu(); !lost.empty()) {
            result = {lost, {}, {}, std::move(result.warnings)};
        }
        return result;
    }

    std::map<std::string, std::string> describe() const override {
        std::map<std::string, std::string> facts;
        if (machine_) {
            facts["clock"] = "virtual";
            facts["model.cpus"] = std::to_string(machine_->cpus);
            facts["model.jitter"] = number_text(machine_->jitter);
            facts["model.costs_ns"] = costs_text(machine_->costs);
        }
        facts["topology"] = "embedded engine, " + system_ + ": one process, device side " +
                            (cpus_.device ? "on its own CPU" : "in the worker's thread");
        for (const char* role : {"receiver", "worker", "device"}) {
            facts[std::string("cpu.") + role] = "";  // not pinned, or no thread of its own
        }
        for (const auto& [role, cpu] : roles(cpus_))
            facts["cpu." + role] = std::to_string(cpu);
        for (const std::size_t state : {1U, 0U}) {
            const std::string grown =
                grown_bounds_text(specs_.at(state), state == 0, axes_, machine_);
            if (grown.empty()) continue;
            facts["warning.bounds-grow"] =
                "with max-pkts, ring-size grows in both states and max-bytes where max-pkts does, "
                "so that it is the packet bound that ends a batch (" +
                grown + ")";
            break;
        }
        return facts;
    }

    void stop() noexcept override {}

  private:
    static engine::Workload work_of(const Workload& workload, std::uint64_t seed) {
        engine::Workload work;
        work.kind = workload.kind == Kind::rtt ? engine::Kind::rtt : engine::Kind::throughput;
        work.payload_bytes = workload.payload_bytes;
        work.writes = workload.writes;
        work.recv_bytes = workload.recv_bytes;
        if (workload.kind == Kind::rtt) work.warmup_requests = workload.writes / 10;
        work.seed = seed;
        return work;
    }

    engine::State state_at(std::size_t state, const Point& point) const {
        return engine_state_at(specs_.at(state), state == 0, point, machine_);
    }

    // A CPU that was taken away in the middle (hotplug, a cpuset) makes the trial another one.
    std::string lost_cpu() const {
        if (machine_) return {};
        try {
            check_allowed(cpus_, allowed_cpus());
        } catch (const std::exception& error) {
            return error.what();
        }
        return {};
    }

    std::optional<engine::VirtualMachine> machine_;  // its seed is each trial's
    std::array<std::string, 2> specs_;
    std::vector<Axis> axes_;
    std::string system_;
    CpuPlacement cpus_;
    engine::Placement placement_;
};

}  // namespace

std::unique_ptr<Target> make_engine_target(const Experiment& experiment) {
    return std::make_unique<EngineTarget>(experiment);
}

}  // namespace vsb::harness
