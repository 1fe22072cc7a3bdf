#pragma once
// Packets the host's sender queued for the guest: vsock->send_pkt_queue. A write becomes packets of
// at most 64 KiB (virtio_transport_send_pkt_info()); the worker cuts them to the guest's buffers.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/trial/pattern.h"

namespace vsb::engine::vhost_vsock_used {

inline constexpr std::uint64_t kMaxPacketBytes = 65536;  // VIRTIO_VSOCK_MAX_PKT_BUF_SIZE

struct HostPacket {
    std::vector<std::byte> bytes;  // capacity for the longest; `length` of them are in use
    std::uint32_t length = 0;
    std::uint32_t offset = 0;  // of it, sent already (VIRTIO_VSOCK_SKB_CB(skb)->offset)
};

// One thread at a time. Memory is made once.
class SendQueue {
  public:
    // Room for `packets` packets of a sender that makes `writes` writes of `payload` bytes.
    SendQueue(std::size_t packets, std::uint64_t writes, std::uint64_t payload,
              const trial::Pattern& pattern);

    // The sender's turn: copies from its writes into packets until the queue is full or all is
    // written.
    void fill() noexcept;
    // The oldest packet; null when the queue is empty.
    HostPacket* front() noexcept { return first_ == last_ ? nullptr : &at(first_); }
    void pop() noexcept { ++first_; }

    bool all_written() const noexcept { return writes_done_ == writes_; }
    std::uint64_t bytes_written() const noexcept { return bytes_; }
    std::uint64_t packets() const noexcept { return last_; }

  private:
    HostPacket& at(std::uint64_t n) noexcept { return ring_[n % ring_.size()]; }

    std::vector<HostPacket> ring_;
    std::uint64_t first_ = 0;
    std::uint64_t last_ = 0;
    const std::uint64_t writes_;
    const std::uint64_t payload_;
    const trial::Pattern& pattern_;
    std::uint64_t writes_done_ = 0;
    std::uint64_t offset_ = 0;  // in the write under way
    std::uint64_t bytes_ = 0;
};

}  // namespace vsb::engine::vhost_vsock_used
