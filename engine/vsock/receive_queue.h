#pragma once
// The receiving half of struct virtio_vsock_sock: rx_queue with its accounting, under rx_lock.

#include <atomic>
#include <cstdint>

#include "engine/sync/spinlock.h"
#include "engine/vsock/skb_pool.h"

namespace vsb::engine {

class ReceiveQueue {
  public:
    // Largest buffer a collapse makes.
    static constexpr std::uint32_t kCollapsedBytes = 65536;
    // Packets the metadata budget always allows, so that a tiny buf_alloc still moves.
    static constexpr std::uint32_t kLeastPackets = 16;

    enum class Enqueued : std::uint8_t { queued, merged, refused };

    struct Dequeued {
        std::uint32_t bytes = 0;
        std::uint32_t message_bytes = 0;  // SEQPACKET: the whole message, also what did not fit
        bool message = false;             // SEQPACKET: a message was taken
        bool end_of_record = false;
        bool update_credit = false;  // the peer's view has become short
    };

    ReceiveQueue(SkbPool& pool, std::uint32_t buf_alloc) noexcept;
    ReceiveQueue(const ReceiveQueue&) = delete;
    ReceiveQueue& operator=(const ReceiveQueue&) = delete;

    // Packets that may be queued at once under the metadata budget of `buf_alloc`.
    static std::uint32_t packet_limit(std::uint32_t buf_alloc) noexcept;

    // virtio_transport_recv_enqueue and virtio_transport_inc_rx_pkt. The packet is the queue's
    // afterwards, unless refused (credit exceeded, or budget full and nothing to collapse).
    // Departure: an empty stream packet is freed at once, since it would never be read.
    Enqueued enqueue(Skb& skb, bool seqpacket, Current& me) noexcept;
    // Would enqueue take `len` bytes without collapsing? (admission to a batch)
    bool has_room(std::uint32_t len) noexcept;

    // virtio_transport_stream_do_dequeue: copies up to `size` bytes out. The socket lock is held.
    // Departure: bytes leave the account as they are read, not when their packet is empty, so that
    // a half-read packet never holds credit that a sleeping receiver is waiting for.
    // `rcvlowat`: below this many queued bytes the peer is told of its room at once.
    Dequeued dequeue_stream(std::byte* to, std::uint32_t size, std::uint32_t rcvlowat,
                            Current& me) noexcept;
    // virtio_transport_seqpacket_do_dequeue: one message, the part beyond `size` discarded.
    Dequeued dequeue_message(std::byte* to, std::uint32_t size, Current& me) noexcept;

    // For a consumer without a queue (the noop policy): `bytes` were taken as they arrived.
    // True if the peer's view has become short.
    bool bypass(std::uint32_t bytes) noexcept;

    std::uint32_t bytes() noexcept;     // virtio_transport_stream_has_data
    std::uint32_t messages() noexcept;  // virtio_transport_seqpacket_has_data
    std::uint32_t buf_alloc() const noexcept { return buf_alloc_; }
    std::uint32_t buf_used() noexcept;
    std::uint32_t packets() noexcept;
    // The count to tell the peer; remembers that it was told.
    std::uint32_t tell_fwd_cnt() noexcept;
    // Frees whatever is queued.
    void purge(Current& me) noexcept;

  private:
    bool peer_is_short(std::uint32_t rcvlowat) const noexcept;
    void append(Skb& skb) noexcept;
    void collapse(Current& me) noexcept;
    void unlink_first(Current& me) noexcept;
    void forward(std::uint32_t bytes) noexcept;

    SkbPool& pool_;
    alignas(64) Spinlock rx_lock_;
    Skb* first_ = nullptr;
    Skb* last_ = nullptr;
    std::uint32_t packets_ = 0;
    const std::uint32_t packet_limit_;
    const std::uint32_t buf_alloc_;
    std::uint32_t rx_bytes_ = 0;
    std::uint32_t buf_used_ = 0;
    std::uint32_t messages_ = 0;
    // Written under rx_lock, or by bypass, whose caller is the only consumer.
    std::atomic<std::uint32_t> fwd_cnt_{0};
    std::atomic<std::uint32_t> last_fwd_cnt_{0};
};

}  // namespace vsb::engine
