#pragma once
// A spinlock that counts itself: how often it was taken, and how often it was held already. What it
// costs when nobody contends is what spin_lock()/spin_unlock() cost: an exchange and a store. As
// with Spinlock, a waiter that has spun for long gives up its CPU to a holder that lost its own.

#include <atomic>
#include <cstdint>

#include "engine/sync/spinlock.h"

namespace vsb::engine::trial {

struct LockCounts {
    std::uint64_t acquisitions = 0;
    std::uint64_t contended = 0;  // of these, how many found the lock held
};

class alignas(64) CountedSpinlock {
  public:
    void lock() noexcept {
        spend(Cost::lock);
        bool waited = false;
        while (held_.exchange(true, std::memory_order_acquire)) {
            waited = true;
            for (int spins = 0; held_.load(std::memory_order_relaxed); ++spins) {
                if (spins < kSpinsBeforeYield) {
                    cpu_relax();
                } else {
                    yield_cpu();
                }
            }
        }
        ++counts_.acquisitions;
        counts_.contended += waited ? 1 : 0;
    }
    void unlock() noexcept { held_.store(false, std::memory_order_release); }

    // Only while nobody else can hold the lock, e.g. after the threads were joined.
    const LockCounts& counts() const noexcept { return counts_; }

  private:
    static constexpr int kSpinsBeforeYield = 1000;
    std::atomic<bool> held_{false};
    LockCounts counts_;  // written by the holder only
};

}  // namespace vsb::engine::trial
