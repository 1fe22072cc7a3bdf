#pragma once
// Objects of one size that one CPU allocates and another one frees, as SLUB serves them
// (mm/slub.c): the allocating side takes from a list that is its own and, when that is empty, the
// whole list of what was freed elsewhere in one exchange (get_freelist()); the freeing side links
// each object, in the object, into that list with a compare-and-exchange (__slab_free()).
//
// Departure: each free object also names one kAhead places on, which the allocating side fetches;
// SLUB fetches the next one. Left out: the division into slabs, the node's lists. Nothing is asked
// of the system after construction. Under AddressSanitizer a free object is poisoned.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace vsb::engine::vhost_net_rx {

class Slab {
  public:
    // `objects` objects of `bytes` bytes, each on cache lines of its own.
    Slab(std::size_t objects, std::size_t bytes);
    ~Slab();
    Slab(const Slab&) = delete;
    Slab& operator=(const Slab&) = delete;

    // The allocating side, one thread. Null when none is left.
    void* take() noexcept;
    void untake(void* object) noexcept;  // that was taken and handed to nobody
    // The freeing side, one thread.
    void put(void* object) noexcept;

    // Objects taken and not put back. Only while no other thread uses the slab.
    std::uint64_t outstanding() const noexcept { return taken_ - put_; }

  private:
    struct Free {  // what stands in a free object
        Free* next;
        Free* later;
    };
    struct FreeMemory {
        void operator()(std::byte* memory) const noexcept;
    };
    Free* make_free(void* object, Free* next, Free* later) const noexcept;

    static constexpr std::size_t kAhead = 8;
    const std::size_t stride_;
    const std::size_t objects_;
    std::unique_ptr<std::byte, FreeMemory> memory_;
    alignas(64) Free* own_ = nullptr;  // the allocating side's list
    std::uint64_t taken_ = 0;
    alignas(64) std::atomic<Free*> freed_{nullptr};  // newest first
    alignas(
        64) std::array<Free*, kAhead> recent_{};  // the freeing side's: [put_ % kAhead] is oldest
    std::size_t in_list_ = 0;                     // how many of those are known to be in freed_
    std::uint64_t put_ = 0;
};

}  // namespace vsb::engine::vhost_net_rx
