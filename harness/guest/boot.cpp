#include "harness/guest/boot.h"

#include <unistd.h>

#include <array>
#include <fstream>
#include <stdexcept>

#include "harness/guest/allowed.h"
#include "harness/guest/host_programs.h"
#include "harness/guest/hypervisor.h"
#include "harness/guest/initramfs.h"
#include "harness/guest/programs.h"

namespace vsb::guest {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kLocalCid = 1;
constexpr std::uint32_t kCid = 3;  // behind our own device nobody else has one
constexpr std::uint32_t kInnerCid = 42;
constexpr std::uint32_t kFirstVhostCid = 0x10000;
constexpr std::uint32_t kOuterMib = 2048;

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

namespace {

void check_topology(const GuestOptions& options, const Chosen& chosen, bool have_vhost) {
    const Topology topology = chosen.topology;
    const std::string name = "topology " + std::string(topology_name(topology));
    const bool hosts_vhost = topology == Topology::vhost || topology == Topology::nested;
    if (chosen.vmm == Vmm::uml && hosts_vhost) {
        throw std::invalid_argument(name + ": User Mode Linux has none (use vhost-user)");
    }
    if (topology == Topology::vhost && !have_vhost) {
        throw KernelUnavailable(
            name +
            ": /dev/vhost-vsock cannot be opened (modprobe vhost_vsock, and be root or in its "
            "group; nested and vhost-user need neither)");
    }
    if (options.clock == GuestClock::exact &&
        (chosen.vmm != Vmm::qemu || topology != Topology::loopback)) {
        throw std::invalid_argument("clock exact: only QEMU with topology loopback has it");
    }
}

bool can_open(const char* device) {
    return access(device, R_OK | W_OK) == 0;
}

// Does this machine's CPU virtualize as Intel's do? Only where there is KVM does it matter.
bool intel_cpu() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("vendor_id")) return line.find("GenuineIntel") != std::string::npos;
    }
    return false;
}

void refuse_missing(const Kernel& kernel, const std::vector<std::string>& missing) {
    if (missing.empty()) return;
    std::string text = "kernel '" + kernel.image.string() + "': ";
    for (const std::string& one : missing)
        text += one + "; ";
    throw std::invalid_argument(text + "it cannot run this topology");
}

void make_outer_ready(ReadyState& ready, const GuestOptions& options, KernelRequest request,
                      const Programs& programs) {
    if (ready.state.l1_kernel.empty()) {
        ready.outer_kernel = ready.kernel;
    } else {
        request.kernel = ready.state.l1_kernel;
        request.modules = ready.state.l1_modules;
        ready.outer_kernel = find_kernel(request);
    }
    if (ready.outer_kernel.vmm != Vmm::qemu) {
        throw std::invalid_argument("l1=" + ready.outer_kernel.source +
                                    ": topology nested needs a kernel that QEMU boots");
    }
    const bool intel = ready.chosen.accel == Accel::kvm && intel_cpu();
    refuse_missing(ready.outer_kernel,
                   missing_hypervisor_options(ready.outer_kernel.config, intel,
                                              !ready.outer_kernel.modules.empty()));
    auto nodes =
        initramfs_nodes(programs, modules_for(ready.outer_kernel, hypervisor_modules(intel)));
    for (CpioNode& node : hypervisor_nodes(find_qemu(options.qemu), ready.kernel.image,
                                           ready.initrd, options.stop)) {
        nodes.push_back(std::move(node));
    }
    ready.outer_initrd = ready.initrd.string() + "-l1";
    write_whole(ready.outer_initrd, newc_archive(nodes));
}

}  // namespace

Chosen choose(const GuestOptions& options, Vmm kernels_vmm, bool kernel_smp, MachineHas has) {
    Chosen chosen;
    chosen.vmm = options.vmm.value_or(kernels_vmm);
    if (chosen.vmm != kernels_vmm) {
        throw std::invalid_argument("vmm " + std::string(vmm_name(chosen.vmm)) +
                                    ": the kernel is made for " +
                                    std::string(vmm_name(kernels_vmm)));
    }
    chosen.topology = options.topology.value_or(
        options.clock == GuestClock::exact ? Topology::loopback : Topology::vhost_user);
    check_topology(options, chosen, has.vhost);
    if (options.accel == Accel::kvm && !has.kvm) {
        throw std::invalid_argument("accel kvm: /dev/kvm cannot be opened (use --accel tcg)");
    }
    chosen.accel = options.accel.value_or(has.kvm ? Accel::kvm : Accel::tcg);
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
    ready.chosen = choose(options, ready.kernel.vmm, ready.kernel.smp,
                          {can_open("/dev/kvm"), can_open("/dev/vhost-vsock")});
    if (ready.chosen.vmm == Vmm::qemu) find_qemu(options.qemu);
    if (ready.chosen.topology != Topology::nested && !ready.state.l1_kernel.empty()) {
        throw std::invalid_argument("l1=" + ready.state.l1_kernel +
                                    ": only topology nested has a guest that is the host");
    }
    refuse_missing(ready.kernel,
                   missing_options(ready.kernel.config, ready.chosen.vmm, ready.chosen.topology,
                                   !ready.kernel.modules.empty()));
    const Programs programs = read_programs(options.programs);
    const auto modules =
        modules_for(ready.kernel, wanted_modules(ready.chosen.vmm, ready.chosen.topology));
    ready.initrd = initrd;
    write_whole(initrd, newc_archive(initramfs_nodes(programs, modules)));
    if (ready.chosen.topology == Topology::nested) {
        make_outer_ready(ready, options, request, programs);
    }
    return ready;
}

GuestSetup setup_of(const ReadyState& ready, const GuestOptions& options, std::uint64_t seed,
                    const std::string& folder) {
    GuestSetup setup;
    setup.kernel = ready.kernel;
    setup.topology = ready.chosen.topology;
    setup.accel = ready.chosen.accel;
    setup.clock = options.clock;
    setup.cpus = ready.chosen.cpus;
    setup.seed = seed;
    setup.cmdline = ready.state.cmdline;
    setup.sysctls = ready.state.sysctls;
    setup.initrd = ready.initrd.string();
    setup.scratch = folder;
    setup.qemu = options.qemu;
    setup.boot_ns = options.boot_ns;
    setup.stall_ns = options.stall_ns;
    return setup;
}

BootedGuest::BootedGuest(const ReadyState& ready, const GuestOptions& options, std::uint64_t seed)
    : folder_(options.scratch.string()), topology_(ready.chosen.topology) {
    if (options.clock == GuestClock::exact) {
        throw std::invalid_argument("clock exact: such a guest takes no orders once it runs");
    }
    GuestSetup setup = setup_of(ready, options, seed, folder_.path());
    switch (topology_) {
        case Topology::loopback:
            cid_ = kLocalCid;
            break;
        case Topology::vhost_user:
            cid_ = kCid;
            setup.vhost_socket = folder_.path() + "/vhost";
            device_ = std::make_unique<Device>(setup.vhost_socket, kCid, ready.state.policy);
            break;
        case Topology::vhost:
            // Of all guests of this machine: the kernel refuses one that is taken.
            cid_ = kFirstVhostCid + static_cast<std::uint32_t>(getpid());
            host_ = std::make_unique<HostPrograms>(options.programs.string(), folder_.path());
            break;
        case Topology::nested:
            cid_ = kInnerCid;
            break;
    }
    setup.cid = cid_;
    if (topology_ == Topology::nested) {
        setup.boot_ns *= 2;  // one machine emulates two
        boot_outer(ready, options, setup);
    } else {
        guest_ = std::make_unique<Guest>(setup, options.stop);
    }
    cpus_ = guest_cpus(ready.chosen.vmm, guest_->cpus());
    if (ready.chosen.vmm == Vmm::qemu && topology_ != Topology::loopback) {
        guest_->pin_interrupts(cpus_.worker);
    }
}

void BootedGuest::boot_outer(const ReadyState& ready, const GuestOptions& options,
                             const GuestSetup& setup) {
    auto [channel, channel_end] = make_socket_pair();
    auto [console, console_end] = make_socket_pair();
    GuestSetup outer = setup;
    outer.kernel = ready.outer_kernel;
    outer.initrd = ready.outer_initrd.string();
    outer.cmdline = ready.state.l1_cmdline;
    outer.sysctls = {};
    outer.memory_mib = kOuterMib;
    outer.hypervisor = true;
    outer.ports = {{"inner-agent", channel_end.get()}, {"inner-console", console_end.get()}};
    outer_ = std::make_unique<Guest>(outer, options.stop);
    InnerPlan plan;
    plan.program = kInnerQemu;
    plan.firmware = kInnerFirmware;
    plan.kernel = kInnerKernel;
    plan.initrd = kInnerInitrd;
    plan.cmdline = setup.cmdline;
    plan.cpus = setup.cpus;
    plan.cid = kInnerCid;
    plan.outer = setup.accel;
    plan.channel = "/dev/vport0p2";
    plan.console = "/dev/vport0p3";
    try {
        guest_ = std::make_unique<Guest>(setup, options.stop, *outer_, inner_qemu_argv(plan),
                                         std::move(channel), std::move(console));
    } catch (GuestFailure& failure) {
        outer_->shut_down();
        failure.console += "\n--- the guest that is the host ---\n" + outer_->console().text();
        throw;
    }
}

harness::TrialResult BootedGuest::run(const harness::TrialRequest& request, std::uint32_t port) {
    if (device_) return run_guest_trial(*guest_, *device_, request, cpus_, port);
    ProgramEnds ends;
    ends.cpus = cpus_;
    ends.port = port;
    ends.cid = cid_;
    if (topology_ == Topology::loopback) {
        ends.sender_cpu = cpus_.worker;
        return run_programs(*guest_, *guest_, request, ends);
    }
    return run_programs(*guest_, outer_ ? *outer_ : *host_, request, ends);
}

void BootedGuest::shut_down() {
    if (guest_) guest_->shut_down();
    if (outer_) outer_->shut_down();
}

std::string BootedGuest::console() const {
    std::string text = guest_->console().text();
    if (outer_) {
        text += "\n--- the guest that is the host ---\n" + outer_->console().text();
    }
    return text;
}

BootedGuest::~BootedGuest() {
    shut_down();
}

}  // namespace vsb::guest
