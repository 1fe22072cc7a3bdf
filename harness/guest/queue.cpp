#include "harness/guest/queue.h"

#include <algorithm>
#include <cstring>

namespace vsb::guest {
namespace {

bool aligned(const std::byte* pointer, std::uintptr_t to) {
    return pointer != nullptr && reinterpret_cast<std::uintptr_t>(pointer) % to == 0;
}

// Plain memory that another process writes: read once, so that what was checked is what is used.
engine::VringDesc read_descriptor(const engine::Vring& ring, std::uint16_t index) noexcept {
    engine::VringDesc copy{};
    std::memcpy(&copy, ring.desc + index, sizeof(copy));
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return copy;
}

}  // namespace

bool GuestQueue::start(const GuestMemory& memory, const RingAddresses& addresses,
                       std::uint16_t size, std::uint16_t first_index, bool event_idx) noexcept {
    running_ = false;
    if (size == 0 || size > kMaxSize || (size & (size - 1)) != 0) return false;
    const std::uint64_t n = size;
    std::byte* descriptors = memory.at_user(addresses.descriptors, 16 * n);
    std::byte* avail = memory.at_user(addresses.avail, 6 + 2 * n);
    std::byte* used = memory.at_user(addresses.used, 6 + 8 * n);
    if (!aligned(descriptors, 16) || !aligned(avail, 2) || !aligned(used, 4)) return false;
    memory_ = &memory;
    ring_.size = size;
    ring_.event_idx = event_idx;
    ring_.desc = reinterpret_cast<engine::VringDesc*>(descriptors);
    ring_.avail = reinterpret_cast<std::uint16_t*>(avail);
    ring_.used = reinterpret_cast<std::uint16_t*>(used);
    last_avail_ = first_index;
    // As vhost does: the used index is the ring's own (it survives a reconnection).
    put_ = published_ = signalled_ = ring_.used_idx().load(std::memory_order_acquire);
    broken_ = false;
    running_ = true;
    return true;
}

bool GuestQueue::more_avail() const noexcept {
    return running() && ring_.avail_idx().load(std::memory_order_acquire) != last_avail_;
}

GuestQueue::Pop GuestQueue::pop(Chain& chain) noexcept {
    if (!running()) return broken_ ? Pop::broken : Pop::none;
    const std::uint16_t avail = ring_.avail_idx().load(std::memory_order_acquire);
    const auto posted = static_cast<std::uint16_t>(avail - last_avail_);
    if (posted == 0) return Pop::none;
    const std::uint16_t head = posted > ring_.size ? ring_.size : ring_.avail_ring(last_avail_);
    if (head >= ring_.size || !follow(chain, head)) {
        broken_ = true;
        return Pop::broken;
    }
    ++last_avail_;
    return Pop::chain;
}

bool GuestQueue::follow(Chain& chain, std::uint16_t head) noexcept {
    chain.head = head;
    chain.readable = chain.writable = 0;
    chain.readable_bytes = chain.writable_bytes = 0;
    std::uint16_t at = head;
    // A chain longer than the ring is a circle.
    for (std::uint32_t steps = 0; steps < ring_.size; ++steps) {
        const engine::VringDesc one = read_descriptor(ring_, at);
        constexpr std::uint16_t kKnown = engine::kDescNext | engine::kDescWrite;
        if ((one.flags & ~kKnown) != 0) return false;  // indirect tables were not offered
        if (chain.readable + chain.writable >= Chain::kMaxSegments) return false;
        std::byte* data = memory_->at_guest(one.addr, one.len);
        if (data == nullptr) return false;
        if ((one.flags & engine::kDescWrite) != 0) {
            chain.segments[chain.readable + chain.writable++] = {data, one.len};
            chain.writable_bytes += one.len;
        } else {
            if (chain.writable != 0) return false;  // VIRTIO 1.2, 2.7.4.2: readable ones first
            chain.segments[chain.readable++] = {data, one.len};
            chain.readable_bytes += one.len;
        }
        if ((one.flags & engine::kDescNext) == 0) return true;
        if (one.next >= ring_.size) return false;
        at = one.next;
    }
    return false;
}

void GuestQueue::put(std::uint16_t head, std::uint32_t written) noexcept {
    if (!running()) return;
    ring_.used_ring(put_) = {head, written};
    ++put_;
}

void GuestQueue::publish() noexcept {
    if (!running() || published_ == put_) return;
    published_ = put_;
    ring_.used_idx().store(published_, std::memory_order_release);
}

bool GuestQueue::signal_needed() noexcept {
    const std::uint16_t old = signalled_;
    if (!running() || old == published_) return false;
    signalled_ = published_;
    // seq_cst: this store comes before the load of the driver's wish (vhost_notify's smp_mb).
    ring_.used_idx().store(published_, std::memory_order_seq_cst);
    if (ring_.event_idx) {
        return engine::vring_need_event(ring_.used_event().load(std::memory_order_seq_cst),
                                        published_, old);
    }
    return (ring_.avail_flags().load(std::memory_order_seq_cst) & engine::kAvailNoInterrupt) == 0;
}

void GuestQueue::disable_notify() noexcept {
    if (!running() || ring_.event_idx) return;  // vhost: an old avail_event is quiet enough
    ring_.used_flags().store(engine::kUsedNoNotify, std::memory_order_relaxed);
}

bool GuestQueue::enable_notify() noexcept {
    if (!running()) return false;
    if (ring_.event_idx) {
        ring_.avail_event().store(last_avail_, std::memory_order_seq_cst);
    } else {
        ring_.used_flags().store(0, std::memory_order_seq_cst);
    }
    return ring_.avail_idx().load(std::memory_order_seq_cst) != last_avail_;
}

std::size_t gather(const Chain& chain, std::uint64_t offset, std::byte* to,
                   std::size_t size) noexcept {
    std::size_t done = 0;
    for (std::size_t i = 0; i < chain.readable && done < size; ++i) {
        const Segment& one = chain.segments[i];
        if (offset >= one.size) {
            offset -= one.size;
            continue;
        }
        const std::size_t n = std::min<std::size_t>(one.size - offset, size - done);
        std::memcpy(to + done, one.data + offset, n);
        done += n;
        offset = 0;
    }
    return done;
}

std::size_t scatter(const Chain& chain, std::uint64_t offset, const std::byte* from,
                    std::size_t size) noexcept {
    std::size_t done = 0;
    for (std::size_t i = chain.readable; i < chain.readable + chain.writable && done < size; ++i) {
        const Segment& one = chain.segments[i];
        if (offset >= one.size) {
            offset -= one.size;
            continue;
        }
        const std::size_t n = std::min<std::size_t>(one.size - offset, size - done);
        std::memcpy(one.data + offset, from + done, n);
        done += n;
        offset = 0;
    }
    return done;
}

}  // namespace vsb::guest
