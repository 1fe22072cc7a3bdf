#pragma once
// The vhost worker: takes packets off the send queue, writes them into the guest's buffers and
// publishes those. Mirrors vhost_transport_do_send_pkt() of drivers/vhost/vsock.c. Left out: the
// monitor device, replies that restart the TX queue, the credit of the peer (the ring is what
// bounds the sender), descriptor chains.

#include <cstdint>

#include "engine/ring/device_queue.h"
#include "engine/sync/doorbell.h"
#include "engine/trial/trial.h"
#include "engine/vhost_vsock_used/publish.h"
#include "engine/vhost_vsock_used/send_queue.h"

namespace vsb::engine::vhost_vsock_used {

struct WorkerSetup {
    std::uint64_t packet_weight = 256;    // VHOST_VSOCK_PKT_WEIGHT
    std::uint64_t byte_weight = 0x80000;  // VHOST_VSOCK_WEIGHT
    bool notifies = true;                 // false: neither signals nor sleeps (noop)
};

struct WorkerCounts {
    std::uint64_t runs = 0;
    std::uint64_t runs_no_buffers = 0;   // of these, ended for want of posted buffers
    std::uint64_t runs_queue_empty = 0;  // ended for want of packets, the last of all apart
    std::uint64_t buffers = 0;           // filled
    std::uint64_t signals = 0;           // sent to the guest
    std::uint64_t signals_suppressed = 0;
    std::uint64_t sleeps = 0;
    std::uint64_t wake_system_calls = 0;
    std::uint64_t sender_ns = 0;  // the sender's share of this thread
};

class Worker {
  public:
    enum class Left : std::uint8_t { queue_empty, no_buffers, weight, error };

    // `guest` is rung to signal it. All must outlive the worker.
    Worker(const WorkerSetup& setup, DeviceQueue& device, Publish& publish, SendQueue& queue,
           Doorbell& guest) noexcept
        : setup_(setup), device_(device), publish_(publish), queue_(queue), guest_(guest) {}

    // One run of the work item. Everything it filled is published when it returns.
    Left run() noexcept;

    // Sender and worker in turn until all writes are published or the trial ends: before each run
    // the sender fills its queue. Sleeps on `kick` while the guest has posted no buffers.
    void send_all(Doorbell& kick, Task& task, trial::Trial& trial) noexcept;

    const WorkerCounts& counts() const noexcept { return counts_; }

  private:
    bool fill(const DeviceQueue::Buffer& buffer, HostPacket& packet) noexcept;
    void signal() noexcept;

    const WorkerSetup setup_;
    DeviceQueue& device_;
    Publish& publish_;
    SendQueue& queue_;
    Doorbell& guest_;
    std::uint64_t run_bytes_ = 0;
    WorkerCounts counts_;
};

}  // namespace vsb::engine::vhost_vsock_used
