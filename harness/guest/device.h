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

#include "harness/guest/children.h"
#include "harness/guest/pump.h"

namespace vsb::guest {

class Device {
  public:
    // Listens on a unix socket at `path` (in a private folder) from now on.
    Device(const std::string& path, std::uint64_t guest_cid, const DevicePolicy& policy);
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    VsockHost& host() { return pump_.host(); }  // for the jobs' constructors only

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
    void lose(const std::string& why);
    void adopt_job();
    void release_job();

    std::string path_;
    Pump pump_;  // the device's thread only
    Fd listener_;
    Fd machine_;
    Fd wake_;

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
