#include "engine/vhost_net_rx/packet_pool.h"

#include <new>

// Comes with the compiler; clang's is a package of its own that tools without it do without.
#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

namespace vsb::engine::vhost_net_rx {
namespace {

constexpr std::uint64_t kAhead = 4;

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
    // The lines of later ones still lie with the thread that put them back, and can come meanwhile:
    // without that a locked instruction soon after would wait for each of them.
    if (taken_ + kAhead < seen_) {
        const auto* const later = reinterpret_cast<std::byte*>(free_[(taken_ + kAhead) % packets_]);
        __builtin_prefetch(later, 1);
        __builtin_prefetch(later + sizeof(Packet), 1);
    }
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
