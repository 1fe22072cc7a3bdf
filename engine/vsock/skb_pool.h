#pragma once
// The packets' memory: stands for the slab allocator, so that no policy is charged with malloc.
//
// One thread takes (Current::owns_buffers); every thread gives back, the owner to its own list,
// the others to a shared one that the owner empties in one exchange. Last in, first out, as a slab.
// Buffers sit 4 KiB apart, as the kernel's page-sized heads do.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/vsock/current.h"
#include "engine/vsock/skb.h"

namespace vsb::engine {

class SkbPool {
  public:
    // `buffer_len`: bytes a buffer offers to the ring, header included. Throws std::system_error
    // when the memory cannot be mapped.
    SkbPool(std::size_t count, std::uint32_t buffer_len);
    SkbPool(const SkbPool&) = delete;
    SkbPool& operator=(const SkbPool&) = delete;
    ~SkbPool();

    std::uint32_t buffer_len() const noexcept { return buffer_len_; }
    std::size_t size() const noexcept { return skbs_.size(); }

    // nullptr when every buffer is in use. Owner only.
    Skb* take() noexcept;
    // kfree_skb. Also takes packets of make_large.
    void free(Skb& skb, const Current& me) noexcept;

    // A packet outside the pool with room for `payload` bytes (alloc_skb in atomic context):
    // nullptr when there is no memory.
    static Skb* make_large(std::uint32_t payload) noexcept;

  private:
    std::uint32_t buffer_len_;
    std::size_t mapped_bytes_;
    std::byte* memory_;
    std::vector<Skb> skbs_;
    Skb* own_ = nullptr;
    alignas(64) std::atomic<Skb*> returned_{nullptr};
};

}  // namespace vsb::engine
