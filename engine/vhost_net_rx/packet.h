#pragma once
// One packet: what struct sk_buff is to vhost-net, a header and, in an object of its own, its
// bytes.

#include <cstddef>
#include <cstdint>

namespace vsb::engine::vhost_net_rx {

struct alignas(64) Packet {
    std::uint64_t sequence = 0;
    std::uint32_t length = 0;
    std::byte* data = nullptr;  // skb->head

    std::byte* bytes() noexcept { return data; }
    const std::byte* bytes() const noexcept { return data; }
};
static_assert(sizeof(Packet) == 64);

}  // namespace vsb::engine::vhost_net_rx
