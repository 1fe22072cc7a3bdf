#include "engine/vhost_net_rx/slab.h"

#include <algorithm>
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

constexpr std::align_val_t kLine{64};

std::size_t round_up(std::size_t bytes) {
    return (std::max<std::size_t>(bytes, 1) + 63) / 64 * 64;
}

}  // namespace

void Slab::FreeMemory::operator()(std::byte* memory) const noexcept {
    ::operator delete(memory, kLine);
}

Slab::Slab(std::size_t objects, std::size_t bytes)
    : stride_(round_up(bytes)),
      objects_(objects),
      memory_(static_cast<std::byte*>(::operator new(objects* stride_, kLine))) {
    for (std::size_t i = objects; i-- > 0;)
        own_ = make_free(memory_.get() + i * stride_, own_, nullptr);
}

Slab::~Slab() {
    ASAN_UNPOISON_MEMORY_REGION(memory_.get(), objects_ * stride_);
}

Slab::Free* Slab::make_free(void* object, Free* next, Free* later) const noexcept {
    auto* const free = new (object) Free{next, later};
    ASAN_POISON_MEMORY_REGION(free + 1, stride_ - sizeof(Free));
    return free;
}

void* Slab::take() noexcept {
    if (own_ == nullptr) {
        // A look first: an exchange would take the line from the other side for nothing.
        if (freed_.load(std::memory_order_relaxed) == nullptr) return nullptr;
        own_ = freed_.exchange(nullptr, std::memory_order_acquire);
    }
    Free* const object = own_;
    own_ = object->next;
    // Its line still lies with the CPU that freed it.
    if (object->later != nullptr) __builtin_prefetch(object->later, 1);
    ++taken_;
    ASAN_UNPOISON_MEMORY_REGION(object, stride_);
    return object;
}

void Slab::untake(void* object) noexcept {
    own_ = make_free(object, own_, nullptr);
    --taken_;
}

void Slab::put(void* object) noexcept {
    Free* head = freed_.load(std::memory_order_relaxed);
    const auto later = [&] {
        if (head == nullptr) in_list_ = 0;  // the other side has them
        return in_list_ == kAhead ? recent_[put_ % kAhead] : nullptr;
    };
    Free* const free = make_free(object, head, later());
    while (!freed_.compare_exchange_weak(head, free, std::memory_order_release,
                                         std::memory_order_relaxed)) {
        *free = {head, later()};
    }
    recent_[put_++ % kAhead] = free;
    in_list_ = std::min(in_list_ + 1, kAhead);
}

}  // namespace vsb::engine::vhost_net_rx
