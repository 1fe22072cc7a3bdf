#include "engine/ring/device_queue.h"

#include "engine/sync/virtual_time.h"

namespace vsb::engine {

bool DeviceQueue::pop(Buffer& buffer) noexcept {
    return is_virtual() ? meet_and_take(buffer) : take(buffer);
}

bool DeviceQueue::meet_and_take(Buffer& buffer) noexcept {
    meet();
    return take(buffer);
}

inline bool DeviceQueue::take(Buffer& buffer) noexcept {
    while (more_avail()) {
        const std::uint16_t head = ring_.avail_ring(last_avail_);
        ++last_avail_;
        if (head >= ring_.size) continue;
        const VringDesc& desc = ring_.desc[head];
        buffer = {head, desc.addr, desc.len, (desc.flags & kDescWrite) != 0};
        return true;
    }
    return false;
}

void DeviceQueue::push(std::uint16_t head, std::uint32_t written) noexcept {
    ring_.used_ring(used_) = {head, written};
    ++used_;
    publish();
}

inline void DeviceQueue::publish() noexcept {
    if (is_virtual()) {
        spend_and_publish();
        return;
    }
    ring_.used_idx().store(used_, std::memory_order_release);
}

void DeviceQueue::spend_and_publish() noexcept {
    spend(Cost::publish);
    ring_.used_idx().store(used_, std::memory_order_release);
}

void DeviceQueue::push_n(std::span<const VringUsedElem> entries) noexcept {
    for (const VringUsedElem& entry : entries)
        ring_.used_ring(used_++) = entry;
    publish();
}

bool DeviceQueue::signal_needed() noexcept {
    const std::uint16_t old = signalled_;
    if (old == used_) return false;
    signalled_ = used_;
    // The index once more, seq_cst: the store that must come before the load below (vhost's
    // smp_mb). The driver stores its event and then loads the index.
    ring_.used_idx().store(used_, std::memory_order_seq_cst);
    meet();
    if (ring_.event_idx)
        return vring_need_event(ring_.used_event().load(std::memory_order_seq_cst), used_, old);
    return (ring_.avail_flags().load(std::memory_order_seq_cst) & kAvailNoInterrupt) == 0;
}

void DeviceQueue::disable_notify() noexcept {
    if (ring_.event_idx)
        ring_.avail_event().store(static_cast<std::uint16_t>(last_avail_ - 0x8000),
                                  std::memory_order_relaxed);
    else
        ring_.used_flags().store(kUsedNoNotify, std::memory_order_relaxed);
}

bool DeviceQueue::enable_notify() noexcept {
    if (ring_.event_idx)
        ring_.avail_event().store(last_avail_, std::memory_order_seq_cst);
    else
        ring_.used_flags().store(0, std::memory_order_seq_cst);
    meet();
    return ring_.avail_idx().load(std::memory_order_seq_cst) != last_avail_;
}

}  // namespace vsb::engine
