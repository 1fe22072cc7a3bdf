#include "engine/vhost_net_rx/packet_pool.h"

#include <sanitizer/asan_interface.h>

#include <new>

namespace vsb::engine::vhost_net_rx {
namespace {

std::size_t round_up(std::size_t bytes) {
    return (bytes + 63) / 64 * 64;
}

}  // namespace

void PacketPool::FreeMemory::operator()(std::byte* memory) const noexcept {
    ::operator delete (memory, std::align_val_t{64});
}

PacketPool::PacketPool(std::size_t packets, std::size_t longest)
    : stride_(sizeof(Packet) + round_up(longest)),
      packets_(packets),
      memory_(static_cast<std::byte*>(::operator new (packets* stride_, std::align_val_t{64}))),
      free_(packets),
      seen_(packets),
      put_(packets),
      shown_(packets) {
    for (std::size_t i = 0; i < packets; ++i) {
        free_[i] = new (memory_.get() + i * stride_) Packet{};
        ASAN_POISON_MEMORY_REGION(free_[i], stride_);
    }
}

PacketPool::~PacketPool() {
    ASAN_UNPOISON_MEMORY_REGION(memory_.get(), packets_ * stride_);
}

Packet* PacketPool::take() noexcept {
    if (taken_ == seen_) {
        seen_ = shown_.load(std::memory_order_acquire);
        if (taken_ == seen_) return nullptr;
    }
    Packet* const packet = free_[taken_++ % packets_];
    // Its line still lies with the thread that put it back; the next one's can come meanwhile.
    __builtin_prefetch(free_[taken_ % packets_], 1);
    ASAN_UNPOISON_MEMORY_REGION(packet, stride_);
    return packet;
}

void PacketPool::untake(Packet* packet) noexcept {
    ASAN_POISON_MEMORY_REGION(packet, stride_);
    free_[--taken_ % packets_] = packet;
}

void PacketPool::put(Packet* packet) noexcept {
    ASAN_POISON_MEMORY_REGION(packet, stride_);
    free_[put_++ % packets_] = packet;
    if (put_ % kShownEvery == 0) shown_.store(put_, std::memory_order_release);
}

}  // namespace vsb::engine::vhost_net_rx
