#include "harness/guest/target.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "harness/guest/device.h"
#include "harness/guest/guest.h"
#include "harness/guest/initramfs.h"
#include "harness/guest/kernel.h"
#include "harness/guest/process.h"
#include "harness/guest/state.h"
#include "harness/guest/trial.h"

namespace vsb::guest {
namespace {

namespace fs = std::filesystem;
using harness::TrialRequest;
using harness::TrialResult;

constexpr std::uint32_t kCid = 3;
constexpr std::uint64_t kPreNs = 60'000'000'000;

void write_private(const fs::path& path, const std::string& bytes) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    if (!file.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush()) {
        throw std::runtime_error("writing " + path.string() + " failed (is the disk full?)");
    }
}

// One state made ready to boot.
struct ReadyState {
    GuestState state;
    Kernel kernel;
    Chosen chosen;
    fs::path initrd;
};

class GuestTarget final : public harness::Target {
  public:
    GuestTarget(const harness::Experiment& experiment, const GuestOptions& options)
        : options_(options), folder_(options.scratch.string()) {
        const Programs programs = read_programs(options.programs);
        const std::array specs{experiment.a, experiment.b};
        for (std::size_t i = 0; i < specs.size(); ++i)
            make_ready(specs[i], programs, i);
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

    void prepare(std::size_t state) override {
        stop();
        const ReadyState& ready = states_.at(state);
        if (!ready.state.pre.empty()) run_before(ready.state.pre);
        for (int attempt = 1;; ++attempt) {
            try {
                boot(ready);
                prepared_ = state;
                return;
            } catch (const GuestFailure& failure) {
                stop();
                const bool hung =
                    failure.fault() == Fault::silent || failure.fault() == Fault::chatter;
                if (!hung || attempt >= options_.boot_attempts) throw;
                ++boots_repeated_;
            }
        }
    }

    TrialResult run(const TrialRequest& request) override {
        TrialResult result;
        try {
            if (!guest_ || prepared_ != request.state) prepare(request.state);
            if (boots_repeated_ != repeats_told_) {
                result.warnings.push_back(
                    {"boot-repeated", "a guest hung while booting and was booted again (" +
                                          std::to_string(boots_repeated_) + " so far)"});
                repeats_told_ = boots_repeated_;
            }
            const ReadyState& ready = states_.at(request.state);
            TrialResult trial =
                run_guest_trial(*guest_, device_.get(), request,
                                guest_cpus(ready.chosen.vmm, guest_->cpus()), next_port_);
            next_port_ += 2;
            result.failure = std::move(trial.failure);
            result.measurements = std::move(trial.measurements);
            result.samples = std::move(trial.samples);
            for (auto& one : trial.warnings)
                result.warnings.push_back(std::move(one));
            if (result.failure.empty()) {
                result.measurements.push_back(
                    {"boot_time", "ms", static_cast<double>(guest_->boot_ns()) / 1e6});
            }
            for (const std::string& text : guest_->warnings()) {
                result.warnings.push_back({"guest", text});
            }
        } catch (const std::exception& error) {
            result.failure = error.what();
            result.measurements.clear();
            result.samples.clear();
        }
        if (!result.failure.empty()) {
            // The guest is not to be used again, and its console is worth more than the failure.
            if (guest_) result.failure += keep_console(request);
            stop();
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
        facts["cpu.receiver"] = "guest CPU " + std::to_string(cpus.receiver);
        facts["cpu.worker"] = "guest CPU " + std::to_string(cpus.worker);
        facts["guest.boots_repeated"] = std::to_string(boots_repeated_);
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

    void stop() noexcept override {
        if (guest_) guest_->shut_down();
        guest_.reset();
        device_.reset();
        boot_folder_.reset();
    }

  private:
    void make_ready(const std::string& spec, const Programs& programs, std::size_t index) {
        ReadyState& ready = states_.at(index);
        ready.state = parse_guest_state(spec);
        KernelRequest request;
        request.kernel = ready.state.kernel;
        request.modules = ready.state.modules;
        request.cache = options_.cache;
        request.say = options_.say;
        request.stop = options_.stop;
        ready.kernel = find_kernel(request);
        const bool kvm = access("/dev/kvm", R_OK | W_OK) == 0;
        ready.chosen = choose(options_, ready.kernel.vmm, ready.kernel.smp, kvm);
        const auto missing = missing_options(ready.kernel.config, ready.chosen.vmm,
                                             ready.chosen.topology, !ready.kernel.modules.empty());
        if (!missing.empty()) {
            std::string text = "kernel '" + ready.kernel.image.string() + "': ";
            for (const std::string& one : missing)
                text += one + "; ";
            throw std::invalid_argument(text + "it cannot run this topology");
        }
        const auto modules = modules_for(ready.kernel, ready.chosen.vmm, ready.chosen.topology);
        ready.initrd = fs::path(folder_.path()) / ("initrd-" + std::to_string(index));
        write_private(ready.initrd, newc_archive(initramfs_nodes(programs, modules)));
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

    void boot(const ReadyState& ready) {
        boot_folder_ = std::make_unique<PrivateFolder>(folder_.path());
        GuestSetup setup;
        setup.kernel = ready.kernel;
        setup.kernel.vmm = ready.chosen.vmm;
        setup.topology = ready.chosen.topology;
        setup.accel = ready.chosen.accel;
        setup.clock = options_.clock;
        setup.cpus = ready.chosen.cpus;
        // Both states of a pair get the same seed: prepare() counts boots, two a pair.
        setup.seed = 1 + boots_++ / 2;
        setup.cid = kCid;
        setup.cmdline = ready.state.cmdline;
        setup.sysctls = ready.state.sysctls;
        setup.initrd = ready.initrd.string();
        setup.scratch = boot_folder_->path();
        setup.qemu = options_.qemu;
        setup.boot_ns = options_.boot_ns;
        if (setup.topology == Topology::vhost_user) {
            setup.vhost_socket = boot_folder_->path() + "/vhost";
            device_ = std::make_unique<Device>(setup.vhost_socket, kCid, ready.state.policy);
        }
        guest_ = std::make_unique<Guest>(setup, options_.stop);
        const GuestCpus cpus = guest_cpus(ready.chosen.vmm, guest_->cpus());
        if (ready.chosen.vmm == Vmm::qemu && setup.topology != Topology::loopback) {
            guest_->pin_interrupts(cpus.worker);
        }
        next_port_ = 1024;
    }

    // " (console: FILE)", or nothing if there is none to keep.
    std::string keep_console(const TrialRequest& request) {
        guest_->shut_down();
        const std::string text = guest_->console().text();
        if (text.empty()) return {};
        try {
            const fs::path folder = options_.cache / "consoles";
            fs::create_directories(folder);
            fs::permissions(folder, fs::perms::owner_all);
            const fs::path path =
                folder / ("console-" + std::to_string(getpid()) + "-pair-" +
                          std::to_string(request.pair) + (request.state == 0 ? "-A" : "-B"));
            write_private(path, text);
            return " (its console: " + path.string() + ")";
        } catch (const std::exception&) {
            return {};
        }
    }

    GuestOptions options_;
    PrivateFolder folder_;
    std::array<ReadyState, 2> states_;
    std::unique_ptr<PrivateFolder> boot_folder_;
    std::unique_ptr<Device> device_;
    std::unique_ptr<Guest> guest_;
    std::size_t prepared_ = 0;
    std::uint32_t next_port_ = 1024;
    std::uint64_t boots_ = 0;
    int boots_repeated_ = 0;
    int repeats_told_ = 0;
};

}  // namespace

Chosen choose(const GuestOptions& options, Vmm kernels_vmm, bool kernel_smp, bool have_kvm) {
    Chosen chosen;
    chosen.vmm = options.vmm.value_or(kernels_vmm);
    if (chosen.vmm != kernels_vmm) {
        throw std::invalid_argument("vmm " + std::string(vmm_name(chosen.vmm)) +
                                    ": the kernel is made for " +
                                    std::string(vmm_name(kernels_vmm)));
    }
    chosen.topology = options.topology.value_or(
        options.clock == GuestClock::exact ? Topology::loopback : Topology::vhost_user);
    if (chosen.vmm == Vmm::uml && chosen.topology == Topology::vhost) {
        throw std::invalid_argument("topology vhost: User Mode Linux has none (use vhost-user)");
    }
    if (chosen.topology == Topology::vhost) {
        throw std::invalid_argument(
            "topology vhost: a host sender through /dev/vhost-vsock is not built in yet "
            "(vhost-user measures the same RX path of the guest)");
    }
    if (options.clock == GuestClock::exact &&
        (chosen.vmm != Vmm::qemu || chosen.topology != Topology::loopback)) {
        throw std::invalid_argument("clock exact: only QEMU with topology loopback has it");
    }
    if (options.accel == Accel::kvm && !have_kvm) {
        throw std::invalid_argument("accel kvm: /dev/kvm cannot be opened (use --accel tcg)");
    }
    chosen.accel = options.accel.value_or(have_kvm ? Accel::kvm : Accel::tcg);
    if (options.clock == GuestClock::exact) chosen.accel = Accel::tcg;
    chosen.cpus = options.clock == GuestClock::exact || !kernel_smp ? 1 : 2;
    return chosen;
}

std::unique_ptr<harness::Target> make_guest_target(const harness::Experiment& experiment,
                                                   const GuestOptions& options) {
    return std::make_unique<GuestTarget>(experiment, options);
}

}  // namespace vsb::guest
