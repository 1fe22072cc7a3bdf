#include "engine/ring/driver_queue.h"

#include "engine/sync/virtual_time.h"

namespace vsb::engine {

DriverQueue::DriverQueue(Vring ring, std::uint16_t first_index)
    : ring_(ring),
      tokens_(ring.size),
      free_heads_(ring.size),
      free_(ring.size),
      avail_shadow_(first_index),
      avail_published_(first_index),
      last_used_(first_index) {
    for (std::uint16_t i = 0; i < ring.size; ++i)
        free_heads_[i] = static_cast<std::uint16_t>(ring.size - 1 - i);
    ring_.avail_idx().store(first_index);
    ring_.used_idx().store(first_index);
    ring_.avail_event().store(first_index);
    ring_.used_event().store(first_index);
}

bool DriverQueue::add(void* token, std::byte* buffer, std::uint32_t len,
                      bool device_writes) noexcept {
    if (free_ == 0) return false;
    const std::uint16_t head = free_heads_[--free_];
    tokens_[head] = token;
    ring_.desc[head] = {reinterpret_cast<std::uint64_t>(buffer), len,
                        device_writes ? kDescWrite : std::uint16_t{0}, 0};
    ring_.avail_ring(avail_shadow_) = head;
    ++avail_shadow_;
    ring_.avail_idx().store(avail_shadow_, std::memory_order_release);
    return true;
}

bool DriverQueue::kick_prepare() noexcept {
    const std::uint16_t old = avail_published_;
    if (old == avail_shadow_) return false;
    avail_published_ = avail_shadow_;
    // Store of the index, then load of what the device asked for: both seq_cst, in that order.
    ring_.avail_idx().store(avail_shadow_, std::memory_order_seq_cst);
    if (ring_.event_idx)
        return vring_need_event(ring_.avail_event().load(std::memory_order_seq_cst), avail_shadow_,
                                old);
    return (ring_.used_flags().load(std::memory_order_seq_cst) & kUsedNoNotify) == 0;
}

void* DriverQueue::get_buf(std::uint32_t& len) noexcept {
    while (more_used()) {
        const VringUsedElem used = ring_.used_ring(last_used_);
        ++last_used_;
        if (used.id >= ring_.size || tokens_[used.id] == nullptr) {
            ++bad_ids_;
            continue;
        }
        void* token = tokens_[used.id];
        tokens_[used.id] = nullptr;
        free_heads_[free_++] = static_cast<std::uint16_t>(used.id);
        len = used.len;
        return token;
    }
    return nullptr;
}

void DriverQueue::disable_cb() noexcept {
    // With event indices the kernel moves the event out of reach; half a lap behind never matches.
    if (ring_.event_idx)
        ring_.used_event().store(static_cast<std::uint16_t>(last_used_ - 0x8000),
                                 std::memory_order_relaxed);
    else
        ring_.avail_flags().store(kAvailNoInterrupt, std::memory_order_relaxed);
}

bool DriverQueue::enable_cb() noexcept {
    if (ring_.event_idx)
        ring_.used_event().store(last_used_, std::memory_order_seq_cst);
    else
        ring_.avail_flags().store(0, std::memory_order_seq_cst);
    meet();
    return ring_.used_idx().load(std::memory_order_seq_cst) == last_used_;
}

}  // namespace vsb::engine
