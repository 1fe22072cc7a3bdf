#pragma once
// spinlock_t. The kernel's holder cannot be preempted; ours can, so a waiter that has spun for
// long gives up its CPU instead of burning the holder's.

#include <sched.h>

#include <atomic>

#include "engine/sync/virtual_time.h"

namespace vsb::engine {

// One look of a loop that polls.
inline void cpu_relax() noexcept {
    if (is_virtual()) {
        virtual_time::relax();
        return;
    }
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// sched_yield.
inline void yield_cpu() noexcept {
    if (is_virtual())
        virtual_time::yield();
    else
        sched_yield();
}

class Spinlock {
  public:
    void lock() noexcept {
        while (held_.exchange(true, std::memory_order_acquire))
            wait();
    }
    void unlock() noexcept { held_.store(false, std::memory_order_release); }

  private:
    void wait() noexcept {
        for (int spins = 0; held_.load(std::memory_order_relaxed); ++spins) {
            if (spins < kSpinsBeforeYield)
                cpu_relax();
            else
                yield_cpu();
        }
    }

    static constexpr int kSpinsBeforeYield = 2000;
    std::atomic<bool> held_{false};
};

}  // namespace vsb::engine
