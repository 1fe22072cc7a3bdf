#pragma once
// The guest as vhost-net's worker meets it: a virtqueue of posted buffers. What the worker puts
// into one is taken by the guest's driver at once, in the worker's thread, looked at, and posted
// again (XDP_DROP in the guest's poll). The driver polls and wants no signals, but the worker asks
// after each packet whether it does. Left out: mergeable buffers, the header before the packet.

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
    // vhost_add_used_and_signal_n() of one head: handle_rx() calls it for every packet. True if the
    // guest is to be signalled.
    bool add_used_and_signal(const DeviceQueue::Buffer& buffer, std::uint32_t written) noexcept {
        device_.push(buffer.head, written);
        return device_.signal_needed();
    }

    // virtqueue_get_buf() in the driver's poll: what was used last, null when nothing was.
    struct Used {
        std::byte* bytes = nullptr;
        std::uint32_t length = 0;
    };
    Used take_used() noexcept;
    void post_again(std::byte* bytes) noexcept;

  private:
    static constexpr std::uint32_t kBudget = 64;  // packets of one NAPI poll

    const std::size_t buffer_bytes_;
    const trial::RingMemory memory_;
    DriverQueue driver_;
    DeviceQueue device_;
    std::vector<std::byte> buffers_;
    std::uint32_t polled_ = 0;  // of the budget
};

}  // namespace vsb::engine::vhost_net_rx
