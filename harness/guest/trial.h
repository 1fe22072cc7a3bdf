#pragma once
// One trial in a booted guest: the tools' command lines, and their results as measurements. Pure
// but for run_guest_trial().

#include <cstdint>
#include <string>
#include <vector>

#include "harness/guest/device.h"
#include "harness/guest/guest.h"
#include "harness/guest/job.h"
#include "harness/target.h"
#include "transport/results.h"

namespace vsb::guest {

// Which CPUs of the guest do what.
struct GuestCpus {
    int receiver = 0;
    int worker = 0;  // the interrupts and the RX worker
};
// UML takes every virtio interrupt on CPU 0; in QEMU they are directed to CPU 1, as published.
GuestCpus guest_cpus(Vmm vmm, std::uint32_t cpus);

struct ReceiverCall {
    std::uint32_t port = 0;
    std::uint64_t bytes = 0;
    std::uint64_t recv_bytes = 0;
    std::uint64_t seed = 1;
    bool verify = false;
    bool count_cycles = false;
    bool device_sends = true;  // by our device, which has no control channel; else by vsb-sender
    std::uint64_t timeout_s = 30;
    GuestCpus cpus;
};
std::vector<std::string> receiver_argv(const ReceiverCall& call);

// The tool's results as figures, or the failure. planned: bytes.
void throughput_figures(const GuestRun& run, std::uint64_t planned, bool count_cycles,
                        harness::TrialResult& result);

// The results that a tool printed. Returns why they are not to be used; empty: they are.
std::string read_run(const GuestRun& run, const std::string& tool, transport::ReadResults& to);
// The guest's own counters as measurements "guest.NAME".
void add_counters(const GuestRun& run, harness::TrialResult& result);

// Runs a trial whose payload the device sends. `port` is a number that no
// earlier trial in this guest used; two follow it. Throws GuestFailure when the guest is lost.
harness::TrialResult run_guest_trial(Guest& guest, Device& device,
                                     const harness::TrialRequest& request, const GuestCpus& cpus,
                                     std::uint32_t port);

}  // namespace vsb::guest
