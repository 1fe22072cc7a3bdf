#pragma once
// The memory of a split virtqueue, VIRTIO 1.2, 2.7: descriptor table, avail ring, used ring, as
// both sides address it. Little endian, as every host we build for.
//
//   descriptor  u64 addr, u32 len, u16 flags, u16 next           16 B each
//   avail       u16 flags, u16 idx, u16 ring[n], u16 used_event
//   used        u16 flags, u16 idx, {u32 id, u32 len} ring[n], u16 avail_event
//
// Indices run freely and wrap at 2^16. The entries are plain memory, published by the index.
// Orderings that the kernel writes as fences are sequentially consistent accesses here, which
// ThreadSanitizer understands.

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace vsb::engine {

static_assert(std::endian::native == std::endian::little);

struct VringDesc {
    std::uint64_t addr;
    std::uint32_t len;
    std::uint16_t flags;
    std::uint16_t next;
};
static_assert(sizeof(VringDesc) == 16);

struct VringUsedElem {
    std::uint32_t id;
    std::uint32_t len;
};
static_assert(sizeof(VringUsedElem) == 8);

inline constexpr std::uint16_t kDescNext = 1;   // VRING_DESC_F_NEXT
inline constexpr std::uint16_t kDescWrite = 2;  // VRING_DESC_F_WRITE: for the device to write
inline constexpr std::uint16_t kAvailNoInterrupt = 1;
inline constexpr std::uint16_t kUsedNoNotify = 1;

inline constexpr std::uint32_t kVringMaxSize = 32768;

struct Vring {
    std::uint16_t size = 0;
    bool event_idx = true;  // VIRTIO_F_EVENT_IDX negotiated
    VringDesc* desc = nullptr;
    std::uint16_t* avail = nullptr;
    std::uint16_t* used = nullptr;

    // Bytes for a ring of `size` entries; each part starts on a cache line of its own.
    static std::size_t bytes(std::uint16_t size) noexcept;
    // Over memory of bytes(size), 64-byte aligned and zeroed.
    static Vring over(std::byte* memory, std::uint16_t size, bool event_idx) noexcept;

    std::atomic_ref<std::uint16_t> avail_flags() const noexcept { return field(avail, 0); }
    std::atomic_ref<std::uint16_t> avail_idx() const noexcept { return field(avail, 1); }
    std::uint16_t& avail_ring(std::uint16_t i) const noexcept {
        return avail[2 + (i & (size - 1))];
    }
    std::atomic_ref<std::uint16_t> used_event() const noexcept { return field(avail, 2 + size); }

    std::atomic_ref<std::uint16_t> used_flags() const noexcept { return field(used, 0); }
    std::atomic_ref<std::uint16_t> used_idx() const noexcept { return field(used, 1); }
    VringUsedElem& used_ring(std::uint16_t i) const noexcept {
        return reinterpret_cast<VringUsedElem*>(used + 2)[i & (size - 1)];
    }
    std::atomic_ref<std::uint16_t> avail_event() const noexcept {
        return field(used, 2 + 4 * std::size_t{size});
    }

  private:
    static std::atomic_ref<std::uint16_t> field(std::uint16_t* base, std::size_t at) noexcept {
        return std::atomic_ref<std::uint16_t>(base[at]);
    }
};

// vring_need_event: did the index pass `event` on its way from `old` to `now`?
constexpr bool vring_need_event(std::uint16_t event, std::uint16_t now,
                                std::uint16_t old) noexcept {
    return static_cast<std::uint16_t>(now - event - 1) < static_cast<std::uint16_t>(now - old);
}

}  // namespace vsb::engine
