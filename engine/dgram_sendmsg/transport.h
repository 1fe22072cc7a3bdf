#pragma once
// What carries a datagram to its receiver: struct vsock_transport's dgram_enqueue() with the send
// buffer's accounting. Two of them exist in a trial, so that a record whose address and transport
// do not belong together would show. Left out: the virtqueue to the host; the datagram goes
// straight to the receiver's queue, as vsock_loopback does it.

#include <atomic>
#include <cstdint>
#include <span>

#include "engine/dgram_sendmsg/receive_queue.h"
#include "engine/vsock/current.h"

namespace vsb::engine::dgram_sendmsg {

// sk_wmem_alloc against sk_sndbuf: what the socket's datagrams in flight cost.
class SendBuffer {
  public:
    explicit SendBuffer(std::uint64_t bytes) noexcept : limit_(bytes) {}

    // sock_alloc_send_pskb() and sock_wait_for_wmem(): sleeps while the limit is reached; one
    // datagram may overshoot it. False: interrupted, nothing was charged.
    bool charge(std::uint64_t bytes, Current& me) noexcept;
    // sock_wfree() and sock_def_write_space(): wakes every waiter once half is free.
    void release(std::uint64_t bytes, Current& me) noexcept;

    std::uint64_t charged() const noexcept { return charged_.load(std::memory_order_seq_cst); }

  private:
    const std::uint64_t limit_;
    alignas(64) std::atomic<std::uint64_t> charged_{0};
    WaitQueue waiters_;
};

// One message to send.
struct Message {
    std::uint32_t sender = 0;
    std::uint64_t sequence = 0;
    std::span<const std::byte> bytes;
};

class Transport {
  public:
    Transport(std::uint32_t id, SendBuffer& buffer, ReceiveQueue& queue) noexcept
        : id_(id), buffer_(buffer), queue_(queue) {}

    // Waits for room, allocates, copies the message and queues it; wakes the receiver if it sleeps
    // (sk_data_ready). False: interrupted or no memory, nothing was sent.
    bool dgram_enqueue(const Address& from, const Address& to, const Message& message,
                       Current& me) const noexcept;

    static std::uint64_t cost(std::uint64_t length) noexcept { return sizeof(Datagram) + length; }

  private:
    const std::uint32_t id_;
    SendBuffer& buffer_;
    ReceiveQueue& queue_;
};

}  // namespace vsb::engine::dgram_sendmsg
