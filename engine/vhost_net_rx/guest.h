#pragma once
// The guest as vhost-net's worker meets it: a virtqueue of posted buffers. What the worker puts
// into one is taken by the guest's driver at once, in the worker's thread, looked at, and posted
// again (XDP_DROP in the guest's poll). Left out: signals, mergeable buffers.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/ring/device_queue.h"
#include "engine/ring/driver_queue.h"
#include "engine/trial/ring_memory.h"

namespace vsb::engine::vhost_net_rx {

class Guest {
  public:
    // 256 buffers of `buffer_bytes`, as a tap device's RX queue has.
    explicit Guest(std::size_t buffer_bytes);

    // vhost_get_vq_desc(): the next posted buffer. There always is one: see take_used().
    DeviceQueue::Buffer next_buffer() noexcept;
    // vhost_add_used().
    void add_used(const DeviceQueue::Buffer& buffer, std::uint32_t written) noexcept {
        device_.push(buffer.head, written);
    }

    // virtqueue_get_buf() in the driver's poll: what was used last, null when nothing was.
    struct Used {
        std::byte* bytes = nullptr;
        std::uint32_t length = 0;
    };
    Used take_used() noexcept;
    void post_again(std::byte* bytes) noexcept;

  private:
    const std::size_t buffer_bytes_;
    const trial::RingMemory memory_;
    DriverQueue driver_;
    DeviceQueue device_;
    std::vector<std::byte> buffers_;
};

}  // namespace vsb::engine::vhost_net_rx
