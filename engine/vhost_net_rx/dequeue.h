#pragma once
// How vhost-net's worker gets packets out of the pointer ring: the policies of vhost-net-rx. The
// worker asks for the next packet's length, to choose guest buffers that hold it, and takes it
// then, as handle_rx() asks vhost_net_rx_peek_head_len() before it calls recvmsg().

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "engine/vhost_net_rx/packet.h"
#include "engine/vhost_net_rx/ptr_ring.h"

namespace vsb::engine::vhost_net_rx {

class Dequeue {
  public:
    Dequeue() = default;
    Dequeue(const Dequeue&) = delete;
    Dequeue& operator=(const Dequeue&) = delete;
    virtual ~Dequeue() = default;

    // Length of the packet that take() gives next, at least 1; 0 when there is none.
    virtual std::uint32_t peek_length() noexcept = 0;
    // Never null after peek_length() returned more than 0.
    virtual Packet* take() noexcept = 0;
    // Puts what was consumed and not served back into the ring, before the ring is cleaned up; what
    // finds no room there is freed.
    struct Left {
        std::uint64_t put_back = 0;
        std::uint64_t freed = 0;
    };
    virtual Left stop(const std::function<void(Packet*)>& free) noexcept = 0;

    // [n]: times n packets left the ring under one lock.
    virtual std::vector<std::uint64_t> batch_sizes() const = 0;
    virtual std::uint64_t refills_short() const noexcept { return 0; }
};

// Length under the consumer lock, then the packet under it again: tun_peek_len() with
// ptr_ring_peek, and tun_ring_recv() with ptr_ring_consume().
std::unique_ptr<Dequeue> make_per_skb(PtrRing<Packet>& ring);

// Up to `batch` (1 to 256) packets into a local array under one lock, served from there:
// vhost_net_buf_produce(), vhost_net_buf_peek(), vhost_net_buf_consume(),
// vhost_net_buf_unproduce().
std::unique_ptr<Dequeue> make_batch(PtrRing<Packet>& ring, std::size_t batch);

// No lock at all, which one consumer can afford: the floor.
std::unique_ptr<Dequeue> make_noop(PtrRing<Packet>& ring);

}  // namespace vsb::engine::vhost_net_rx
