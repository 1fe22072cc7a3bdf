#pragma once
// spinlock_t. The kernel's holder cannot be preempted; ours can, so a waiter that has spun for
// long gives up its CPU instead of burning the holder's.

#include <sched.h>

#include <atomic>

namespace vsb::engine {

inline void cpu_relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
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
                sched_yield();
        }
    }

    static constexpr int kSpinsBeforeYield = 2000;
    std::atomic<bool> held_{false};
};

}  // namespace vsb::engine
