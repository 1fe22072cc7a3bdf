#pragma once
// Memory of a split virtqueue, aligned and zeroed.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "engine/ring/vring.h"

namespace vsb::engine::trial {

class RingMemory {
  public:
    // size: a power of two.
    RingMemory(std::uint16_t size, bool event_idx)
        : memory_(static_cast<std::byte*>(::operator new(Vring::bytes(size), kAlignment))) {
        std::fill_n(memory_.get(), Vring::bytes(size), std::byte{0});
        ring_ = Vring::over(memory_.get(), size, event_idx);
    }
    const Vring& ring() const noexcept { return ring_; }

  private:
    static constexpr std::align_val_t kAlignment{64};
    struct Free {
        void operator()(std::byte* memory) const noexcept { ::operator delete(memory, kAlignment); }
    };
    std::unique_ptr<std::byte, Free> memory_;
    Vring ring_;
};

}  // namespace vsb::engine::trial
