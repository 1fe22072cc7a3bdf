#pragma once
// The driver's half of a split virtqueue: virtqueue_add_*, virtqueue_kick_prepare,
// virtqueue_get_buf, virtqueue_disable_cb and virtqueue_enable_cb of drivers/virtio/virtio_ring.c.
// Left out: chains of several descriptors (vsock's RX uses one), indirect tables, DMA mapping, the
// broken flag. One thread at a time.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/ring/vring.h"

namespace vsb::engine {

class DriverQueue {
  public:
    explicit DriverQueue(Vring ring, std::uint16_t first_index = 0);

    std::uint16_t free_entries() const noexcept { return free_; }
    // False when the ring is full. The device sees the buffer at once.
    bool add(void* token, std::byte* buffer, std::uint32_t len, bool device_writes) noexcept;
    // Did the device ask to be notified of what was added since the last call?
    bool kick_prepare() noexcept;

    // The oldest used buffer and how many bytes were written into it, or nullptr.
    // virtqueue_get_buf; an id that was never given out is skipped, as the kernel does with
    // BAD_RING, and counted.
    void* get_buf(std::uint32_t& len) noexcept;
    bool more_used() const noexcept {
        return ring_.used_idx().load(std::memory_order_acquire) != last_used_;
    }
    std::uint64_t bad_ids() const noexcept { return bad_ids_; }

    // virtqueue_detach_unused_buf for all of them: the device no longer runs.
    template <class Function>
    void for_each_outstanding(Function function) {
        for (void*& token : tokens_)
            if (token != nullptr) function(std::exchange(token, nullptr));
    }

    void disable_cb() noexcept;
    // Asks for an interrupt at the next used entry. False if there is one already.
    bool enable_cb() noexcept;

  private:
    Vring ring_;
    std::vector<void*> tokens_;
    std::vector<std::uint16_t> free_heads_;
    std::uint16_t free_;
    std::uint16_t avail_shadow_;
    std::uint16_t avail_published_;
    std::uint16_t last_used_;
    std::uint64_t bad_ids_ = 0;
};

}  // namespace vsb::engine
