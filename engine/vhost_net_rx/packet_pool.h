#pragma once
// Where packets come from and go to: alloc_skb() and consume_skb(), an allocation and a free of the
// header and one of the bytes each. The producer's CPU allocates, the worker's frees, so that
// nearly every free takes the allocator's slow path, which is a large part of the worker's share of
// a packet, as in the kernel.

#include <cstddef>
#include <cstdint>

#include "engine/vhost_net_rx/packet.h"
#include "engine/vhost_net_rx/slab.h"

namespace vsb::engine::vhost_net_rx {

class PacketPool {
  public:
    PacketPool(std::size_t packets, std::size_t longest)
        : headers_(packets, sizeof(Packet)), bytes_(packets, longest) {}

    // The taker's side: one thread. Null when none is left.
    Packet* take() noexcept;
    void untake(Packet* packet) noexcept;  // that was taken and handed to nobody
    // The putter's side: one thread.
    void put(Packet* packet) noexcept;

    // Packets taken and not put back. Only while no other thread uses the pool.
    std::uint64_t outstanding() const noexcept { return headers_.outstanding(); }

  private:
    Slab headers_;
    Slab bytes_;
};

}  // namespace vsb::engine::vhost_net_rx
