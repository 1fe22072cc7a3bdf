#pragma once
// Datagrams on their way: allocated by the sender, queued to the one receiver, freed by it.
// struct sk_buff on sk_receive_queue, with its own spinlock.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/dgram_sendmsg/address.h"
#include "engine/sync/wait_queue.h"
#include "engine/trial/counted_spinlock.h"

namespace vsb::engine::dgram_sendmsg {

// `length` bytes follow it in the same allocation.
struct Datagram {
    Datagram* next = nullptr;
    std::uint64_t sequence = 0;  // of the sender's, from 0
    std::uint32_t sender = 0;
    std::uint32_t length = 0;
    std::uint32_t transport = 0;  // which one carried it
    Address from;
    Address to;

    std::byte* bytes() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
    const std::byte* bytes() const noexcept { return reinterpret_cast<const std::byte*>(this + 1); }
};

struct FreeDatagram {
    void operator()(Datagram* datagram) const noexcept;
};
using DatagramPtr = std::unique_ptr<Datagram, FreeDatagram>;

// Null when there is no memory.
DatagramPtr allocate_datagram(std::uint32_t length) noexcept;

class ReceiveQueue {
  public:
    ReceiveQueue() = default;
    ~ReceiveQueue();  // frees what is left
    ReceiveQueue(const ReceiveQueue&) = delete;
    ReceiveQueue& operator=(const ReceiveQueue&) = delete;

    void push(DatagramPtr datagram) noexcept;
    // Everything that is queued, oldest first; null when nothing is. The caller frees it.
    Datagram* take_all() noexcept;
    bool empty() const noexcept { return length_.load(std::memory_order_seq_cst) == 0; }

    WaitQueue& readers() noexcept { return readers_; }
    const trial::LockCounts& lock_counts() const noexcept { return lock_.counts(); }

  private:
    trial::CountedSpinlock lock_;
    Datagram* first_ = nullptr;
    Datagram* last_ = nullptr;
    std::atomic<std::uint64_t> length_{0};
    WaitQueue readers_;
};

}  // namespace vsb::engine::dgram_sendmsg
