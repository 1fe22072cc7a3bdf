#pragma once
// wait_queue_head_t with entries that remove themselves when woken (autoremove_wake_function), so
// that a sleep costs its wakers one wake and not one for every event until the sleeper runs.
//
// Departure from the kernel: wake_up calls the tasks after it has dropped the queue's spinlock,
// since in user space the wake is a system call of microseconds. A task must outlive every wake.

#include <array>
#include <atomic>
#include <cstddef>

#include "engine/sync/spinlock.h"
#include "engine/sync/task.h"

namespace vsb::engine {

struct WaitEntry {
    Task* task = nullptr;
    WaitEntry* prev = nullptr;
    WaitEntry* next = nullptr;
    bool exclusive = false;
    std::atomic<bool> queued{false};
};

struct Woken {
    unsigned tasks = 0;         // entries taken off the queue
    unsigned system_calls = 0;  // of those, tasks that really slept
};

class WaitQueue {
  public:
    // Queues the entry unless it is queued, and announces the task's sleep.
    void prepare_to_wait(WaitEntry& entry, Task& task) noexcept { prepare(entry, task, false); }
    void prepare_to_wait_exclusive(WaitEntry& entry, Task& task) noexcept {
        prepare(entry, task, true);
    }
    void finish_wait(WaitEntry& entry) noexcept;

    // skwq_has_sleeper / waitqueue_active: ordered after the caller's change of the condition.
    bool has_sleeper() const noexcept { return length_.load(std::memory_order_seq_cst) != 0; }

    // Wakes every non-exclusive entry ahead of, and including, the first exclusive one.
    Woken wake_up() noexcept;

  private:
    void prepare(WaitEntry& entry, Task& task, bool exclusive) noexcept;
    void unlink(WaitEntry& entry) noexcept;

    Spinlock lock_;
    std::atomic<unsigned> length_{0};
    WaitEntry* first_ = nullptr;
    WaitEntry* last_ = nullptr;
};

}  // namespace vsb::engine
