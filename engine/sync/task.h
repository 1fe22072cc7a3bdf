#pragma once
// A thread as its wakers see it: the sleeping half of task_struct.
//
// set_sleeping / schedule / wake mirror set_current_state, schedule and try_to_wake_up: a sleep is
// a system call, and a wake is one only if the task really sleeps (a task that has only announced
// its sleep is turned back by the state alone). Left out: priorities, run queues, task states
// other than "interruptible". `interrupt` stands for a signal: it ends every sleep of the task,
// now and later.

#include <atomic>
#include <cstdint>

#include "engine/sync/futex.h"
#include "engine/sync/virtual_time.h"

namespace vsb::engine {

class alignas(64) Task {
  public:
    // Announces a sleep. Whoever changes what the task waits for after this, and then calls wake,
    // is not missed.
    void set_sleeping() noexcept { state_.store(kAnnounced, std::memory_order_seq_cst); }
    void set_running() noexcept { state_.store(kRunning, std::memory_order_seq_cst); }

    // Sleeps until woken, unless that has happened since set_sleeping. True if it really slept.
    bool schedule() noexcept {
        meet();
        if (interrupted()) {
            set_running();
            return false;
        }
        std::uint32_t expected = kAnnounced;
        if (!state_.compare_exchange_strong(expected, kAsleep)) return false;
        if (is_virtual()) virtual_time::sleep(*this);
        while (state_.load(std::memory_order_seq_cst) == kAsleep)
            futex_wait(state_, kAsleep);
        return true;
    }

    // True if it took a system call.
    bool wake() noexcept {
        if (state_.exchange(kRunning, std::memory_order_seq_cst) != kAsleep) return false;
        if (is_virtual())
            virtual_time::wake(*this);
        else
            futex_wake(state_, 1);
        return true;
    }

    void interrupt() noexcept {
        interrupted_.store(true, std::memory_order_seq_cst);
        wake();
    }
    bool interrupted() const noexcept { return interrupted_.load(std::memory_order_seq_cst); }

  private:
    static constexpr std::uint32_t kRunning = 0;
    static constexpr std::uint32_t kAnnounced = 1;
    static constexpr std::uint32_t kAsleep = 2;
    std::atomic<std::uint32_t> state_{kRunning};
    std::atomic<bool> interrupted_{false};
};

}  // namespace vsb::engine
