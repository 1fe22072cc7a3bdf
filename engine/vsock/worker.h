#pragma once
// The guest's RX side: virtio_transport_rx_work and virtio_vsock_rx_fill of
// net/vmw_vsock/virtio_transport.c. One loop for every policy.

#include <cstdint>

#include "engine/ring/driver_queue.h"
#include "engine/sync/doorbell.h"
#include "engine/vsock/policy.h"

namespace vsb::engine {

class Worker {
  public:
    // `kick` is rung when the device asked to hear of new buffers; that costs kick_cost_ns.
    Worker(Vring ring, ReceiveContext& ctx, Policy& policy, Doorbell& kick,
           std::uint64_t kick_cost_ns, std::uint16_t first_index = 0);
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    // virtio_vsock_rx_fill: posts buffers until the ring is full or the pool empty.
    void fill(Current& me) noexcept;

    // Are there used buffers that the worker may take?
    bool pending() const noexcept { return rx_.more_used() && ctx_.tx.more_replies(); }

    // virtio_transport_rx_work: drains the ring, refills it when fewer than half are posted.
    void run(Current& me) noexcept;

    // One used buffer: the checks of rx_work, then the policy. Takes the packet.
    void receive(Skb& skb, std::uint32_t used_len, Current& me) noexcept;

    std::uint64_t bad_ids() const noexcept { return rx_.bad_ids(); }

  private:
    DriverQueue rx_;
    ReceiveContext& ctx_;
    Policy& policy_;
    Doorbell& kick_;
    const std::uint64_t kick_cost_ns_;
    const std::uint16_t ring_size_;
    std::uint16_t posted_ = 0;
};

}  // namespace vsb::engine
