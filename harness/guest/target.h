#pragma once
// The target `guest`: for each state of a pair a fresh guest boots that state's kernel, the tools
// run inside, and what they measured comes back on the agent's channel.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "harness/experiment.h"
#include "harness/guest/machine.h"
#include "harness/target.h"

namespace vsb::guest {

// What is asked for beyond the experiment; the caller reads the environment.
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
    int boot_attempts = 3;  // a guest that hangs while booting is booted again, and counted
    std::function<void(const std::string&)> say = {};  // progress: kernels being fetched
    std::function<bool()> stop = {};
};

// Finds the kernels (fetching what is to be fetched), checks them for vsock and virtio, and writes
// the states' initramfs. Throws std::invalid_argument or std::runtime_error saying how to mend it.
std::unique_ptr<harness::Target> make_guest_target(const harness::Experiment& experiment,
                                                   const GuestOptions& options);

// The options with their unset parts chosen for a kernel. Throws std::invalid_argument: a vmm that
// does not fit the kernel, a topology that it does not have, an exact clock elsewhere than QEMU.
struct Chosen {
    Vmm vmm = Vmm::uml;
    Topology topology = Topology::vhost_user;
    Accel accel = Accel::tcg;
    std::uint32_t cpus = 2;
};
Chosen choose(const GuestOptions& options, Vmm kernels_vmm, bool kernel_smp, bool have_kvm);

}  // namespace vsb::guest
