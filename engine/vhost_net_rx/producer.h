#pragma once
// The side that fills the pointer ring: a packet generator behind tun_net_xmit().

#include <cstdint>

#include "engine/sync/wait_queue.h"
#include "engine/trial/pattern.h"
#include "engine/trial/trial.h"
#include "engine/vhost_net_rx/packet_pool.h"
#include "engine/vhost_net_rx/ptr_ring.h"

namespace vsb::engine::vhost_net_rx {

struct ProducerCounts {
    std::uint64_t produced = 0;
    std::uint64_t full_polls = 0;  // looks at a full ring
    std::uint64_t wakeups = 0;     // of the worker
};

// Sends packets 0 .. packets-1 of `length` bytes. Where tun_net_xmit() drops a packet that finds
// the ring full, this waits, so that every policy is given the same packets. After each packet the
// worker is woken if it sleeps (sk_data_ready). Returns when all are in the ring or the trial
// ended.
ProducerCounts produce(PtrRing<Packet>& ring, PacketPool& pool, const trial::Pattern& pattern,
                       std::uint64_t packets, std::uint32_t length, WaitQueue& worker,
                       const trial::Trial& trial) noexcept;

}  // namespace vsb::engine::vhost_net_rx
