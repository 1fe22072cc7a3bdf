#include "engine/vsock/skb_pool.h"

#include <sys/mman.h>

#include <cerrno>
#include <new>
#include <system_error>

namespace vsb::engine {
namespace {

constexpr std::size_t kPopulateUpTo = std::size_t{64} << 20;

}  // namespace

SkbPool::SkbPool(std::size_t count, std::uint32_t buffer_len)
    : buffer_len_(buffer_len), mapped_bytes_(0), memory_(nullptr), skbs_(count) {
    const std::size_t stride =
        (std::size_t{buffer_len} + kSharedInfoBytes + 4095) & ~std::size_t{4095};
    mapped_bytes_ = stride * count;
    // Touched now where that is affordable: the first lap must not pay for page faults.
    const int populate = mapped_bytes_ <= kPopulateUpTo ? MAP_POPULATE : 0;
    void* mapped = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | populate, -1, 0);
    if (mapped == MAP_FAILED)
        throw std::system_error(
            errno, std::generic_category(),
            "mapping " + std::to_string(mapped_bytes_) + " bytes of RX buffers");
    memory_ = static_cast<std::byte*>(mapped);
    for (std::size_t i = count; i-- > 0;) {
        skbs_[i].head = memory_ + i * stride;
        skbs_[i].buffer_len = buffer_len;
        skbs_[i].next = own_;
        own_ = &skbs_[i];
    }
}

SkbPool::~SkbPool() {
    munmap(memory_, mapped_bytes_);
}

Skb* SkbPool::take() noexcept {
    if (own_ == nullptr) own_ = returned_.exchange(nullptr, std::memory_order_acquire);
    Skb* skb = own_;
    if (skb == nullptr) return nullptr;
    own_ = skb->next;
    skb->next = nullptr;
    skb->len = 0;
    skb->offset = 0;
    skb->flags = 0;
    return skb;
}

void SkbPool::free(Skb& skb, const Current& me) noexcept {
    if (skb.from_heap) {
        ::operator delete (skb.head, std::align_val_t{64});
        delete &skb;
        return;
    }
    if (me.owns_buffers) {
        skb.next = own_;
        own_ = &skb;
        return;
    }
    Skb* top = returned_.load(std::memory_order_relaxed);
    do {
        skb.next = top;
    } while (!returned_.compare_exchange_weak(top, &skb, std::memory_order_release,
                                              std::memory_order_relaxed));
}

Skb* SkbPool::make_large(std::uint32_t payload) noexcept {
    const std::uint32_t bytes = payload + static_cast<std::uint32_t>(kHeaderBytes);
    void* head = ::operator new (bytes, std::align_val_t{64}, std::nothrow);
    if (head == nullptr) return nullptr;
    Skb* skb = new (std::nothrow) Skb;
    if (skb == nullptr) {
        ::operator delete (head, std::align_val_t{64});
        return nullptr;
    }
    skb->head = static_cast<std::byte*>(head);
    skb->buffer_len = bytes;
    skb->from_heap = true;
    return skb;
}

}  // namespace vsb::engine
