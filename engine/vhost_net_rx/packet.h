#pragma once
// One packet: what struct sk_buff is to vhost-net. The header fills a cache line of its own and the
// bytes follow it, so that asking for a packet's length touches another line than its bytes.

#include <cstddef>
#include <cstdint>

namespace vsb::engine::vhost_net_rx {

struct alignas(64) Packet {
    std::uint64_t sequence = 0;
    std::uint32_t length = 0;

    std::byte* bytes() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
    const std::byte* bytes() const noexcept { return reinterpret_cast<const std::byte*>(this + 1); }
};
static_assert(sizeof(Packet) == 64);

}  // namespace vsb::engine::vhost_net_rx
