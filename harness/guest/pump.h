#pragma once
// What the device does between its rings and its job: packets from the guest to the host's end of
// vsock, packets of that end and of the job into the guest's RX buffers, used entries published as
// the state's policy says. No thread, no socket: the device's thread calls pump(), a test or a
// fuzzer may as well.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/guest/backend.h"
#include "harness/guest/job.h"
#include "harness/guest/state.h"
#include "harness/guest/vsock_host.h"

namespace vsb::guest {

// Since the device was made; a trial's are a difference.
struct DeviceCounts {
    std::uint64_t rx_packets = 0;    // put into the guest's RX buffers
    std::uint64_t rx_bytes = 0;      // payload in them
    std::uint64_t tx_packets = 0;    // taken from its TX ring
    std::uint64_t bursts = 0;        // runs of packets between two looks at the TX ring
    std::uint64_t publications = 0;  // updates of the RX ring's used index
    std::uint64_t signals = 0;       // interrupts raised for RX
    std::uint64_t starved = 0;       // times the RX ring had no buffer
    std::uint64_t credit_waits = 0;  // times the guest's credit was used up
    std::uint64_t complaints = 0;    // packets that were not as they should be
};
DeviceCounts operator-(const DeviceCounts& after, const DeviceCounts& before);

class Pump {
  public:
    Pump(std::uint64_t guest_cid, const DevicePolicy& policy);

    VsockHost& host() { return host_; }
    VhostBackend& backend() { return backend_; }
    DeviceCounts& counts() { return counts_; }

    // Begins a job (nullptr: none). It must live until the next call.
    void take_job(Job* job);
    Job* job() { return job_; }

    // Everything that can be done without waiting, until `stop` says so or the job is done; ends
    // with notifications on and nothing to do. Empty, or why the rings cannot be used any more.
    std::string pump(const std::function<bool()>& stop);

  private:
    bool take_tx();
    bool send_burst();
    bool next_rx(Chain& chain);
    void put_rx(const Chain& chain, const engine::Header& header, const Piece& piece);

    DevicePolicy policy_;
    VsockHost host_;
    VhostBackend backend_;
    DeviceCounts counts_;
    Job* job_ = nullptr;
    std::vector<std::byte> scratch_;
    std::uint64_t last_tick_ns_ = 0;
    std::uint64_t next_burst_ns_ = 0;
};

}  // namespace vsb::guest
