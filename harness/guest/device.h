#pragma once
// A vhost-user vsock device in this process: one thread that is the host's sender, its vhost worker
// and the back end of the protocol. The machine (UML or QEMU) connects to its socket.
//
// The thread sleeps in poll() when the guest has no buffers or no credit to give, and publishes
// used entries as the state's DevicePolicy says. It signals the guest after each burst, as vhost
// does when its worker finishes.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "harness/guest/backend.h"
#include "harness/guest/children.h"
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

class Device {
  public:
    // Listens on a unix socket at `path` (in a private folder) from now on.
    Device(const std::string& path, std::uint64_t guest_cid, const DevicePolicy& policy);
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    VsockHost& host() { return host_; }  // for the jobs' constructors only

    // Runs a job to its end; the job's failure says how it went. Gives up at the deadline or when
    // `watch` (called about every 50 ms, from the caller's thread) returns a reason.
    void run(Job& job, std::uint64_t deadline_ns, const std::function<std::string()>& watch);

    DeviceCounts counts() const;
    // Why the session ended, or empty: "the machine closed the connection", a broken ring, ...
    std::string trouble() const;

  private:
    void loop();
    void wait_for_events(int timeout_ms);
    void accept_machine();
    void read_message();
    std::string next_message();
    void pump();
    bool take_tx();
    bool send_burst();
    bool next_rx(Chain& chain);
    void put_rx(const Chain& chain, const engine::Header& header, const Piece& piece);
    void lose(const std::string& why);
    void adopt_job();
    void release_job();

    std::string path_;
    DevicePolicy policy_;
    VsockHost host_;
    std::unique_ptr<VhostBackend> backend_;
    Fd listener_;
    Fd machine_;
    Fd wake_;

    // The device's thread only.
    Job* job_ = nullptr;
    std::vector<std::byte> scratch_;
    std::uint64_t last_tick_ns_ = 0;
    std::uint64_t next_burst_ns_ = 0;
    DeviceCounts own_;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    Job* offered_ = nullptr;  // by run(); taken by the thread
    bool job_over_ = false;
    bool abandon_ = false;
    bool quit_ = false;
    std::string trouble_;
    DeviceCounts shown_;

    std::thread thread_;
};

}  // namespace vsb::guest
