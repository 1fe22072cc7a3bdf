#pragma once
// vhost-net's worker: packets out of the ring, into buffers of the guest's virtqueue, to a sink
// that checks and drops them (XDP_DROP in the guest). Mirrors handle_rx() in drivers/vhost/net.c.
// Left out: used entries held back to be published together (as in 2017), the weight after which
// handle_rx() queues itself again.

#include <cstdint>

#include "engine/sync/wait_queue.h"
#include "engine/trial/pattern.h"
#include "engine/trial/trial.h"
#include "engine/vhost_net_rx/dequeue.h"
#include "engine/vhost_net_rx/packet_pool.h"

namespace vsb::engine::vhost_net_rx {

struct WorkerCounts {
    std::uint64_t delivered = 0;
    std::uint64_t bytes = 0;
    std::uint64_t empty_polls = 0;  // looks that found no packet
    std::uint64_t sleeps = 0;
    std::uint64_t signals = 0;   // that the guest wanted: none, it polls
    std::uint64_t first_ns = 0;  // the first packet was seen
    std::uint64_t last_ns = 0;   // the last byte was checked
};

// Delivers `packets` packets of `length` bytes, numbered from 0, or fails the trial at the first
// that is another one or holds other bytes. After busy_polls empty looks it sleeps until woken.
WorkerCounts drain(Dequeue& dequeue, PacketPool& pool, const trial::Pattern& pattern,
                   std::uint64_t packets, std::uint32_t length, std::uint64_t busy_polls,
                   WaitQueue& queue, Task& task, trial::Trial& trial);

}  // namespace vsb::engine::vhost_net_rx
