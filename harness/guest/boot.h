#pragma once
// From a state's SPEC to a running guest: the kernel found, the machine chosen, the initramfs
// written, the device listening, the guest booted.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "harness/guest/children.h"
#include "harness/guest/device.h"
#include "harness/guest/guest.h"
#include "harness/guest/kernel.h"
#include "harness/guest/machine.h"
#include "harness/guest/state.h"
#include "harness/guest/trial.h"

namespace vsb::guest {

// What is asked for beyond a state; the caller reads the environment.
struct GuestOptions {
    std::optional<Vmm> vmm;            // unset: what the kernel is made for
    std::optional<Topology> topology;  // unset: vhost-user
    GuestClock clock = GuestClock::wall;
    std::optional<Accel> accel;      // unset: KVM where there is one
    std::filesystem::path cache;     // of kernels, private
    std::filesystem::path programs;  // folder of vsb-init and the tools
    std::filesystem::path scratch;   // private folders are made below it; best a tmpfs
    std::string qemu = "qemu-system-x86_64";
    std::uint64_t boot_ns = 60'000'000'000;
    std::uint64_t stall_ns = 20'000'000'000;  // no progress for so long ends a trial
    int boot_attempts = 3;  // a guest that hangs while booting is booted again, and counted
    std::function<void(const std::string&)> say = {};  // progress: kernels being fetched
    std::function<bool()> stop = {};
};

// The words of --vmm, --topology, --clock and --accel; "auto" leaves a choice open. Throws
// std::invalid_argument naming the choices.
void set_vmm(GuestOptions& options, std::string_view word);
void set_topology(GuestOptions& options, std::string_view word);
void set_clock(GuestOptions& options, std::string_view word);
void set_accel(GuestOptions& options, std::string_view word);

// The options with their unset parts chosen for a kernel. Throws std::invalid_argument: a vmm that
// does not fit the kernel, a topology that it does not have, an exact clock elsewhere than QEMU.
struct Chosen {
    Vmm vmm = Vmm::uml;
    Topology topology = Topology::vhost_user;
    Accel accel = Accel::tcg;
    std::uint32_t cpus = 2;
};
// What this machine has.
struct MachineHas {
    bool kvm = false;
    bool vhost = false;  // /dev/vhost-vsock
};
Chosen choose(const GuestOptions& options, Vmm kernels_vmm, bool kernel_smp, MachineHas has);

// A state made ready to boot, as often as wanted.
struct ReadyState {
    GuestState state;
    Kernel kernel;
    Chosen chosen;
    std::filesystem::path initrd;
    // Topology nested: of the guest that is the host.
    Kernel outer_kernel;
    std::filesystem::path outer_initrd;
};

// Finds the kernel (fetching what is to be fetched), checks it for vsock and virtio, and writes the
// initramfs to `initrd` (nested: the other one's beside it). Throws std::invalid_argument or
// std::runtime_error saying how to mend it, KernelUnavailable among them where this machine lets no
// such guest run.
ReadyState make_ready(const std::string& spec, const GuestOptions& options,
                      const std::filesystem::path& initrd);

// How a state's guest is to be set up in a private folder.
GuestSetup setup_of(const ReadyState& ready, const GuestOptions& options, std::uint64_t seed,
                    const std::string& folder);

// A booted guest and what belongs to it. Not for the exact clock (exact.h).
class BootedGuest {
  public:
    // Boots once, in a private folder below options.scratch. Throws GuestFailure,
    // std::system_error.
    BootedGuest(const ReadyState& ready, const GuestOptions& options, std::uint64_t seed);
    ~BootedGuest();
    BootedGuest(const BootedGuest&) = delete;
    BootedGuest& operator=(const BootedGuest&) = delete;

    Guest& guest() { return *guest_; }          // where the receiver runs
    Device* device() { return device_.get(); }  // nullptr: programs send
    // Runs a trial, as the topology has it. `port` is a number that no earlier trial in this guest
    // used; two follow it. Throws GuestFailure when a guest is lost.
    harness::TrialResult run(const harness::TrialRequest& request, std::uint32_t port);
    GuestCpus cpus() const { return cpus_; }
    const std::string& folder() const { return folder_.path(); }
    void shut_down();
    std::string console() const;  // of every guest

  private:
    void boot_outer(const ReadyState& ready, const GuestOptions& options, const GuestSetup& setup);

    PrivateFolder folder_;
    Topology topology_;
    std::unique_ptr<Device> device_;
    std::unique_ptr<Guest> outer_;  // topology nested: the guest that is the host
    std::unique_ptr<Guest> guest_;
    std::unique_ptr<ProgramRunner> host_;  // topology vhost: this machine
    GuestCpus cpus_;
    std::uint32_t cid_ = 0;
};

// Writes a file of ours whole, or throws std::runtime_error.
void write_whole(const std::filesystem::path& path, const std::string& bytes);

}  // namespace vsb::guest
