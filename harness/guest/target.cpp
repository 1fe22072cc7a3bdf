#include "harness/guest/target.h"

#include <unistd.h>

#include <array>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "harness/guest/boot.h"
#include "harness/guest/children.h"
#include "harness/guest/exact.h"
#include "harness/guest/host_load.h"
#include "harness/guest/trial.h"

namespace vsb::guest {
namespace {

namespace fs = std::filesystem;
using harness::TrialRequest;
using harness::TrialResult;

constexpr std::uint64_t kPreNs = 60'000'000'000;
constexpr int kHopelessBoots = 2;
constexpr int kMaxConsoles = 20;  // files that one run leaves

class GuestTarget final : public harness::Target {
  public:
    GuestTarget(const harness::Experiment& experiment, const GuestOptions& options)
        : options_(options), folder_(options.scratch.string()) {
        const std::array specs{experiment.a, experiment.b};
        for (std::size_t i = 0; i < specs.size(); ++i) {
            states_.at(i) = make_ready(specs.at(i), options,
                                       fs::path(folder_.path()) / ("initrd-" + std::to_string(i)));
        }
        if (states_[0].chosen.topology != states_[1].chosen.topology ||
            states_[0].chosen.vmm != states_[1].chosen.vmm ||
            states_[0].chosen.cpus != states_[1].chosen.cpus) {
            throw std::invalid_argument(
                "the states' kernels run in different machines (UML and QEMU, or with other "
                "numbers "
                "of CPUs): they do not compare");
        }
    }

    ~GuestTarget() override { stop(); }

    // The next trial boots: there a failure has a trial to belong to.
    void prepare(std::size_t) override {
        stop();
        no_guest_.clear();
    }

    // A boot costs more than a trial and serves every workload.
    bool serves_rounds() const override { return true; }

    TrialResult run(const TrialRequest& request) override {
        TrialResult result;
        try {
            if (!no_guest_.empty()) throw std::runtime_error(no_guest_);
            if (options_.clock == GuestClock::exact) {
                TrialResult trial = run_exact(request);
                tell_repeats(trial);
                return trial;
            }
            if (!booted_ || booted_state_ != request.state) boot(request);
            tell_repeats(result);
            const pid_t group = booted_->guest().machine_group();
            const HostLoad before = read_host_load(group);
            TrialResult trial = booted_->run(request, next_port_);
            const HostLoad after = read_host_load(group);
            const long ticks = sysconf(_SC_CLK_TCK);
            const double others = others_cpus(before, after, ticks);
            next_port_ += 2;
            result.failure = std::move(trial.failure);
            result.measurements = std::move(trial.measurements);
            result.samples = std::move(trial.samples);
            for (auto& one : trial.warnings)
                result.warnings.push_back(std::move(one));
            if (disturbing(before, after, ticks)) {
                result.warnings.push_back(
                    {"disturbed", "other programs ran beside the guests (first seen in pair " +
                                      std::to_string(request.pair) + " of " +
                                      request.workload.name + ", " +
                                      std::to_string(others).substr(0, 4) +
                                      " CPUs; each trial's host.others_cpus tells): throughput is "
                                      "not to be relied on"});
            }
            if (result.failure.empty()) {
                result.measurements.push_back({"host.others_cpus", "1", others});
                result.measurements.push_back(
                    {"boot_time", "ms", static_cast<double>(booted_->guest().boot_ns()) / 1e6});
            }
            for (const std::string& text : booted_->guest().warnings()) {
                result.warnings.push_back({"guest", text});
            }
        } catch (const GuestFailure& failure) {
            result.failure = failure.what();
            if (!failure.console.empty()) result.failure += keep_console(request, failure.console);
            result.measurements.clear();
            result.samples.clear();
        } catch (const std::exception& error) {
            result.failure = error.what();
            result.measurements.clear();
            result.samples.clear();
        }
        if (!result.failure.empty()) {
            // The guest is not to be used again, and its console is worth more than the failure.
            if (booted_) {
                booted_->shut_down();
                if (!request.stop || !request.stop()) {
                    result.failure += keep_console(request, booted_->console());
                }
            }
            stop();
            result.hopeless = unborn_ >= kHopelessBoots;
        }
        return result;
    }

    std::map<std::string, std::string> describe() const override {
        std::map<std::string, std::string> facts;
        const Chosen& chosen = states_[0].chosen;
        const GuestCpus cpus = guest_cpus(chosen.vmm, chosen.cpus);
        facts["topology"] = "guest, " + std::string(topology_name(chosen.topology));
        facts["guest.vmm"] = vmm_name(chosen.vmm);
        facts["guest.accel"] =
            chosen.vmm == Vmm::uml ? "native" : std::string(accel_name(chosen.accel));
        facts["guest.clock"] = clock_name(options_.clock);
        facts["guest.cpus"] = std::to_string(chosen.cpus);
        facts["cpu.receiver"] = std::to_string(cpus.receiver) + " of the guest";
        facts["cpu.worker"] = std::to_string(cpus.worker) + " of the guest";
        for (std::size_t i = 0; i < states_.size(); ++i) {
            const std::string key = i == 0 ? "guest.a." : "guest.b.";
            const ReadyState& ready = states_[i];
            facts[key + "kernel"] = ready.kernel.source + " (" + ready.kernel.release + ")";
            facts[key + "publication"] = publication_name(ready.state.policy.publication);
            facts[key + "burst"] = std::to_string(ready.state.policy.burst);
            facts[key + "gap_ns"] = std::to_string(ready.state.policy.gap_ns);
        }
        if (chosen.vmm == Vmm::qemu && chosen.accel == Accel::tcg) {
            facts["warning.tcg"] =
                "measured under TCG: directions and counts carry over, magnitudes do not";
        }
        return facts;
    }

    void stop() noexcept override { booted_.reset(); }

  private:
    // A boot is one sample of one seed, the pair's, for both states; the host's load changes
    // nothing.
    TrialResult run_exact(const TrialRequest& request) {
        const ReadyState& ready = states_.at(request.state);
        if (!ready.state.pre.empty()) run_before(ready.state.pre);
        return patiently([&] { return run_exact_trial(ready, options_, request); });
    }

    void tell_repeats(TrialResult& result) {
        if (boots_repeated_ == repeats_told_) return;
        result.warnings.push_back(
            {"boot-repeated", "a guest hung while booting and was booted again (" +
                                  std::to_string(boots_repeated_) + " so far)"});
        repeats_told_ = boots_repeated_;
    }

    // A guest that hangs while booting is booted again, and counted.
    template <typename Boot>
    std::invoke_result_t<const Boot&> patiently(const Boot& boot) {
        for (int attempt = 1;; ++attempt) {
            try {
                return boot();
            } catch (const GuestFailure& failure) {
                const bool hung =
                    failure.fault() == Fault::silent || failure.fault() == Fault::chatter;
                if (!failure.booting || !hung || attempt >= options_.boot_attempts) throw;
                ++boots_repeated_;
            }
        }
    }

    void boot(const TrialRequest& request) {
        stop();
        const ReadyState& ready = states_.at(request.state);
        try {
            if (!ready.state.pre.empty()) run_before(ready.state.pre);
            booted_ = patiently(
                [&] { return std::make_unique<BootedGuest>(ready, options_, request.seed); });
        } catch (const std::exception& error) {
            // The rest of this half would only wait for the same.
            no_guest_ = std::string("no guest came up for this pair's state: ") + error.what();
            const auto* lost = dynamic_cast<const GuestFailure*>(&error);
            if (lost == nullptr || lost->fault() != Fault::interrupted) {
                unborn_ += has_booted_.at(request.state) ? 0 : 1;
            }
            throw;
        }
        next_port_ = 1024;
        booted_state_ = request.state;
        has_booted_.at(request.state) = true;
        unborn_ = 0;
    }

    void run_before(const std::vector<std::string>& argv) {
        SpawnPlan plan;
        plan.argv = argv;
        const CommandResult result = run_command(plan, kPreNs, options_.stop);
        if (result.status != ExitStatus{}) {
            throw std::runtime_error("pre=" + argv[0] +
                                     " failed: " + guest::describe(result.status));
        }
    }

    // " (console: FILE)", or nothing if there is none to keep.
    std::string keep_console(const TrialRequest& request, const std::string& text) {
        if (text.empty() || consoles_ >= kMaxConsoles) return {};
        try {
            const fs::path folder = options_.cache / "consoles";
            fs::create_directories(folder);
            fs::permissions(folder, fs::perms::owner_all);
            const fs::path path =
                folder /
                ("console-" + std::to_string(getpid()) + "-" + std::to_string(++consoles_) +
                 "-pair-" + std::to_string(request.pair) + (request.state == 0 ? "-A" : "-B"));
            write_whole(path, text);
            return " (its console: " + path.string() + ")";
        } catch (const std::exception&) {
            return {};
        }
    }

    GuestOptions options_;
    PrivateFolder folder_;
    std::array<ReadyState, 2> states_;
    std::unique_ptr<BootedGuest> booted_;
    std::size_t booted_state_ = 0;
    std::string no_guest_;              // why this half of the pair has none
    std::array<bool, 2> has_booted_{};  // since the target was made
    int unborn_ = 0;                    // boots in vain of a state that never came up
    int consoles_ = 0;                  // kept
    std::uint32_t next_port_ = 1024;
    int boots_repeated_ = 0;
    int repeats_told_ = 0;
};

}  // namespace

std::unique_ptr<harness::Target> make_guest_target(const harness::Experiment& experiment,
                                                   const GuestOptions& options) {
    return std::make_unique<GuestTarget>(experiment, options);
}

}  // namespace vsb::guest
