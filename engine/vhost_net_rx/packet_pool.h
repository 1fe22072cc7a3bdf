#pragma once
// Packets made before the trial and used again and again, so that the producer outruns the consumer
// as a packet generator does (pktgen with clone_skb): skb allocation is left out on purpose. One
// thread takes, one puts back. Under AddressSanitizer a packet that is not taken is poisoned.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/vhost_net_rx/packet.h"

namespace vsb::engine::vhost_net_rx {

class PacketPool {
  public:
    PacketPool(std::size_t packets, std::size_t longest);
    ~PacketPool();
    PacketPool(const PacketPool&) = delete;
    PacketPool& operator=(const PacketPool&) = delete;

    // How many more than can be held elsewhere a pool must have: those put back are shown to the
    // taker in groups, as one cache line moves per group.
    static constexpr std::size_t kShownEvery = 32;

    // Null when none is left. The taker's side.
    Packet* take() noexcept;
    // The putter's side.
    void put(Packet* packet) noexcept;
    // The taker's side: a packet that was taken and handed to nobody.
    void untake(Packet* packet) noexcept;

    // Packets taken and not put back. Only while no other thread uses the pool.
    std::uint64_t outstanding() const noexcept { return taken_ + packets_ - put_; }

  private:
    struct FreeMemory {
        void operator()(std::byte* memory) const noexcept;
    };

    const std::size_t stride_;
    const std::size_t packets_;
    std::unique_ptr<std::byte, FreeMemory> memory_;
    std::vector<Packet*> free_;  // a ring: put_ % packets_ is written, taken_ % packets_ is read
    alignas(64) std::uint64_t taken_ = 0;
    std::uint64_t seen_;  // the taker's last look at shown_
    alignas(64) std::uint64_t put_;
    std::atomic<std::uint64_t> shown_;
};

}  // namespace vsb::engine::vhost_net_rx
