#pragma once
// The guest's way out: credit updates, resets, replies and echoed payload, through the TX
// virtqueue. virtio_transport_send_pkt with its fast path, send_pkt_queue for when the ring is
// full, and virtio_transport_tx_work, which the device's completion runs. Any thread may send.

#include <atomic>
#include <cstdint>
#include <memory>

#include "engine/ring/driver_queue.h"
#include "engine/sync/doorbell.h"
#include "engine/sync/spinlock.h"
#include "engine/vsock/current.h"
#include "engine/vsock/header.h"

namespace vsb::engine {

class TransmitPath {
  public:
    static constexpr std::uint32_t kMaxPayload = 65536;  // VIRTIO_VSOCK_MAX_PKT_BUF_SIZE

    // `kick` is rung when the device asked for it; that costs the caller kick_cost_ns.
    TransmitPath(Vring ring, Doorbell& kick, std::uint64_t kick_cost_ns,
                 std::uint16_t first_index = 0);
    ~TransmitPath();
    TransmitPath(const TransmitPath&) = delete;
    TransmitPath& operator=(const TransmitPath&) = delete;

    // Sends one packet; `payload` is header.len bytes, at most kMaxPayload. `is_reply`: the packet
    // answers a received one (virtio_vsock_skb_reply). False when there is no memory for it.
    bool send(const Header& header, const std::byte* payload, bool is_reply, Current& me) noexcept;

    // virtio_transport_more_replies: may the worker go on, or do answers to what it received pile
    // up because the device takes none?
    bool more_replies() const noexcept {
        return queued_replies_.load(std::memory_order_seq_cst) < ring_size_;
    }

    // virtio_vsock_tx_done: the device has used entries. Frees them and sends what was waiting.
    void done(Current& me) noexcept;

    struct Packet {
        Packet* next = nullptr;
        std::uint32_t len = 0;  // header and payload
        bool large = false;
        bool is_reply = false;
        std::byte* bytes = nullptr;
    };

  private:
    Packet* make(std::uint32_t len) noexcept;
    void reclaim() noexcept;
    bool flush(Current& me) noexcept;
    void kick(bool wanted, Current& me) noexcept;

    const std::uint16_t ring_size_;
    Doorbell& kick_;
    const std::uint64_t kick_cost_ns_;
    alignas(64) Spinlock lock_;  // tx_lock
    DriverQueue queue_;
    Packet* free_small_ = nullptr;
    Packet* free_large_ = nullptr;
    Packet* pending_first_ = nullptr;  // send_pkt_queue
    Packet* pending_last_ = nullptr;
    std::atomic<std::uint32_t> queued_replies_{0};
};

}  // namespace vsb::engine
