#pragma once
// A packet in the guest: struct sk_buff with its linear buffer, the header in front.

#include <cstddef>
#include <cstdint>

#include "engine/vsock/header.h"

namespace vsb::engine {

// What a buffer of the RX ring loses to struct skb_shared_info (SKB_WITH_OVERHEAD), and what one
// queued packet costs beyond its payload, SKB_TRUESIZE(0): both as on x86-64.
inline constexpr std::uint32_t kSharedInfoBytes = 320;
inline constexpr std::uint32_t kSkbTruesize = 256 + kSharedInfoBytes;

// Threshold for copying a packet into the tail buffer: GOOD_COPY_LEN of
// virtio_transport_common.c.
inline constexpr std::uint32_t kGoodCopyLen = 128;

struct alignas(64) Skb {
    Skb* next = nullptr;
    std::byte* head = nullptr;     // kHeaderBytes of header, then payload
    std::uint32_t buffer_len = 0;  // bytes at head
    std::uint32_t len = 0;         // payload held
    std::uint32_t offset = 0;      // of it, already read (VIRTIO_VSOCK_SKB_CB(skb)->offset)
    std::uint32_t flags = 0;       // of the header, kept when packets are merged
    bool from_heap = false;        // made by a collapse, not of the pool

    std::byte* payload() noexcept { return head + kHeaderBytes; }
    std::uint32_t tailroom() const noexcept {
        return buffer_len - static_cast<std::uint32_t>(kHeaderBytes) - len;
    }
    std::uint32_t unread() const noexcept { return len - offset; }
};

}  // namespace vsb::engine
