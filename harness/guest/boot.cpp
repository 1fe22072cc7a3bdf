#include "harness/guest/boot.h"

#include <unistd.h>

#include <array>
#include <fstream>
#include <stdexcept>

#include "harness/guest/allowed.h"
#include "harness/guest/initramfs.h"

namespace vsb::guest {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kCid = 3;

[[noreturn]] void reject(const char* option, std::string_view word, const char* choices) {
    throw std::invalid_argument(std::string(option) + " '" + std::string(word) + "': choose " +
                                choices);
}

void check_uml_may_run(const Kernel& kernel, const fs::path& scratch) {
    std::string why = why_no_memory_in(scratch, std::uint64_t{BootPlan{}.memory_mib} << 20);
    if (!why.empty()) why += " (set TMPDIR)";
    if (why.empty() && !kernel.smp) why = why_no_tracing();
    if (!why.empty()) throw KernelUnavailable("no User Mode Linux on this machine: " + why);
}

}  // namespace

void set_vmm(GuestOptions& options, std::string_view word) {
    if (word != "auto" && word != "uml" && word != "qemu") reject("vmm", word, "auto, uml, qemu");
    if (word == "auto") options.vmm.reset();
    if (word == "uml") options.vmm = Vmm::uml;
    if (word == "qemu") options.vmm = Vmm::qemu;
}

void set_topology(GuestOptions& options, std::string_view word) {
    options.topology.reset();
    if (word != "auto") options.topology = parse_topology(word);
}

void set_clock(GuestOptions& options, std::string_view word) {
    if (word != "wall" && word != "exact") reject("clock", word, "wall or exact");
    options.clock = word == "exact" ? GuestClock::exact : GuestClock::wall;
}

void set_accel(GuestOptions& options, std::string_view word) {
    if (word != "auto" && word != "kvm" && word != "tcg") reject("accel", word, "auto, kvm, tcg");
    if (word == "auto") options.accel.reset();
    if (word == "kvm") options.accel = Accel::kvm;
    if (word == "tcg") options.accel = Accel::tcg;
}

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

void write_whole(const fs::path& path, const std::string& bytes) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    if (!file.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush()) {
        throw std::runtime_error("writing " + path.string() + " failed (is the disk full?)");
    }
}

ReadyState make_ready(const std::string& spec, const GuestOptions& options,
                      const fs::path& initrd) {
    ReadyState ready;
    ready.state = parse_guest_state(spec);
    KernelRequest request;
    request.kernel = ready.state.kernel;
    request.modules = ready.state.modules;
    request.cache = options.cache;
    request.say = options.say;
    request.stop = options.stop;
    ready.kernel = find_kernel(request);
    if (ready.kernel.vmm == Vmm::uml) check_uml_may_run(ready.kernel, options.scratch);
    const bool kvm = access("/dev/kvm", R_OK | W_OK) == 0;
    ready.chosen = choose(options, ready.kernel.vmm, ready.kernel.smp, kvm);
    const auto missing = missing_options(ready.kernel.config, ready.chosen.vmm,
                                         ready.chosen.topology, !ready.kernel.modules.empty());
    if (!missing.empty()) {
        std::string text = "kernel '" + ready.kernel.image.string() + "': ";
        for (const std::string& one : missing)
            text += one + "; ";
        throw std::invalid_argument(text + "it cannot run this topology");
    }
    const auto modules = modules_for(ready.kernel, ready.chosen.vmm, ready.chosen.topology);
    ready.initrd = initrd;
    write_whole(initrd, newc_archive(initramfs_nodes(read_programs(options.programs), modules)));
    return ready;
}

BootedGuest::BootedGuest(const ReadyState& ready, const GuestOptions& options, std::uint64_t seed)
    : folder_(options.scratch.string()) {
    GuestSetup setup;
    setup.kernel = ready.kernel;
    setup.topology = ready.chosen.topology;
    setup.accel = ready.chosen.accel;
    setup.clock = options.clock;
    setup.cpus = ready.chosen.cpus;
    setup.seed = seed;
    setup.cid = kCid;
    setup.cmdline = ready.state.cmdline;
    setup.sysctls = ready.state.sysctls;
    setup.initrd = ready.initrd.string();
    setup.scratch = folder_.path();
    setup.qemu = options.qemu;
    setup.boot_ns = options.boot_ns;
    setup.stall_ns = options.stall_ns;
    if (setup.topology == Topology::vhost_user) {
        setup.vhost_socket = folder_.path() + "/vhost";
        device_ = std::make_unique<Device>(setup.vhost_socket, kCid, ready.state.policy);
    }
    guest_ = std::make_unique<Guest>(setup, options.stop);
    cpus_ = guest_cpus(ready.chosen.vmm, guest_->cpus());
    if (ready.chosen.vmm == Vmm::qemu && device_) guest_->pin_interrupts(cpus_.worker);
}

BootedGuest::~BootedGuest() {
    if (guest_) guest_->shut_down();
}

}  // namespace vsb::guest
