#include "harness/engine_target.h"

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <utility>

#include "engine/headline.h"
#include "engine/run.h"
#include "harness/engine_state.h"
#include "harness/rtt_figures.h"
#include "receivers/perf/counters.h"

namespace vsb::harness {
namespace {

using datasets::Measurement;

constexpr double kNsOfAMs = 1e6;

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

double as_double(std::uint64_t value) {
    return static_cast<double>(value);
}

std::string byte_failure(const engine::Outcome& outcome, std::uint64_t planned) {
    if (outcome.bytes_sent == planned && outcome.bytes_received == planned) return {};
    return "bytes differ: planned " + std::to_string(planned) + ", sent " +
           std::to_string(outcome.bytes_sent) + ", received " +
           std::to_string(outcome.bytes_received);
}

void add_details(const engine::Outcome& outcome, std::vector<Measurement>& measurements) {
    // recv() calls first: the column a reviewer looks for.
    for (const engine::Count& count : outcome.counts) {
        if (count.name == "recv_calls") {
            measurements.push_back({count.name, "1", as_double(count.value)});
        }
    }
    measurements.push_back({"whole_time", "ms", as_double(outcome.whole_ns) / kNsOfAMs});
    measurements.push_back({"device_time", "ms", as_double(outcome.device_ns) / kNsOfAMs});
    measurements.push_back({"bytes_sent", "B", as_double(outcome.bytes_sent)});
    measurements.push_back({"bytes_received", "B", as_double(outcome.bytes_received)});
    for (const engine::Count& count : outcome.counts) {
        // A trial has one figure under a name: a count of the engine never stands for another.
        const bool taken =
            std::ranges::find(measurements, count.name, &Measurement::metric) != measurements.end();
        if (!taken) measurements.push_back({count.name, "1", as_double(count.value)});
    }
}

void throughput_figures(const std::string& system, const engine::Outcome& outcome,
                        const Workload& workload, TrialResult& result) {
    result.failure = byte_failure(outcome, workload.writes * workload.payload_bytes);
    if (result.failure.empty() && outcome.first_to_last_ns == 0) {
        result.failure = "the clock did not advance between the first packet and the last byte";
    }
    if (!result.failure.empty()) return;
    const engine::Headline headline = engine::headline(system, outcome);
    result.measurements.push_back(
        {std::string(headline.metric), std::string(headline.unit), headline.value});
    add_details(outcome, result.measurements);
    // [n]: ownerships of the socket that carried n packets.
    if (!outcome.batch_sizes.empty()) {
        result.samples.push_back({"batch_sizes", "1", outcome.batch_sizes});
    }
}

void rtt_result(const engine::Outcome& outcome, const Workload& workload, TrialResult& result) {
    if (outcome.rtt_ns.size() != workload.writes) {
        result.failure = "planned " + std::to_string(workload.writes) + " round trips, measured " +
                         std::to_string(outcome.rtt_ns.size());
        return;
    }
    result.measurements = rtt_figures(outcome.rtt_ns);
    result.measurements.push_back({"clock_cost", "ns", as_double(outcome.clock_cost_ns)});
    result.samples.push_back({"rtt", "ns", outcome.rtt_ns});
}

void cycles_figures(const std::optional<perf::Counts>& counts, const engine::Outcome& outcome,
                    const Workload& workload, TrialResult& result) {
    result.failure = byte_failure(outcome, workload.writes * workload.payload_bytes);
    if (!result.failure.empty()) return;
    if (!counts || !counts->cycles.value) {
        result.failure =
            "no cycles were counted: " + (counts ? counts->cycles.reason : "no worker ran");
        return;
    }
    const double bytes = as_double(outcome.bytes_received);
    result.measurements.push_back(
        {"cycles_per_byte", "cycles/B", as_double(*counts->cycles.value) / bytes});
    if (counts->instructions.value) {
        result.measurements.push_back({"instructions_per_byte", "instructions/B",
                                       as_double(*counts->instructions.value) / bytes});
    }
    result.measurements.push_back({"bytes_received", "B", bytes});
}

class EngineTarget : public Target {
  public:
    explicit EngineTarget(const Experiment& experiment)
        : states_{parse_engine_state(experiment.a, true), parse_engine_state(experiment.b, false)},
          cpus_(experiment.cpus) {
        if (states_[0].system != states_[1].system) {
            throw std::invalid_argument("states of two systems, " + states_[0].system + " and " +
                                        states_[1].system + ", do not compare");
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
        engine::Workload work;
        work.kind = workload.kind == Kind::rtt ? engine::Kind::rtt : engine::Kind::throughput;
        work.payload_bytes = workload.payload_bytes;
        work.writes = workload.writes;
        work.recv_bytes = workload.recv_bytes;
        if (workload.kind == Kind::rtt) work.warmup_requests = workload.writes / 10;
        work.seed = request.seed;

        TrialResult result;
        result.failure = lost_cpu();
        if (!result.failure.empty()) return result;
        WorkerCounters counters;
        engine::Hooks hooks;
        if (workload.kind == Kind::cycles) counters.attach(hooks);
        const engine::State& state = states_.at(request.state);
        const engine::Outcome outcome =
            engine::run(state, work, placement_, static_cast<std::uint64_t>(request.timeout_ns),
                        hooks, request.stop);
        for (const engine::Warning& warning : outcome.warnings) {
            std::string code = warning.code;
            std::ranges::replace(code, '_', '-');
            result.warnings.push_back({std::move(code), warning.text});
        }
        result.failure = outcome.failure.empty() ? lost_cpu() : outcome.failure;
        if (!result.failure.empty()) return result;
        switch (workload.kind) {
            case Kind::fixed:
            case Kind::matched:
                throughput_figures(state.system, outcome, workload, result);
                break;
            case Kind::rtt:
                rtt_result(outcome, workload, result);
                break;
            case Kind::cycles:
                cycles_figures(counters.counts(), outcome, workload, result);
                break;
        }
        return result;
    }

    std::map<std::string, std::string> describe() const override {
        std::map<std::string, std::string> facts;
        facts["topology"] = "embedded engine, " + states_[0].system +
                            ": one process, device side " +
                            (cpus_.device ? "on its own CPU" : "in the worker's thread");
        for (const char* role : {"receiver", "worker", "device"}) {
            facts[std::string("cpu.") + role] = "";  // not pinned, or no thread of its own
        }
        for (const auto& [role, cpu] : roles(cpus_))
            facts["cpu." + role] = std::to_string(cpu);
        return facts;
    }

    void stop() noexcept override {}

  private:
    // A CPU that was taken away in the middle (hotplug, a cpuset) makes the trial another one.
    std::string lost_cpu() const {
        try {
            check_allowed(cpus_, allowed_cpus());
        } catch (const std::exception& error) {
            return error.what();
        }
        return {};
    }

    std::array<engine::State, 2> states_;
    CpuPlacement cpus_;
    engine::Placement placement_;
};

}  // namespace

std::unique_ptr<Target> make_engine_target(const Experiment& experiment) {
    return std::make_unique<EngineTarget>(experiment);
}

}  // namespace vsb::harness
