#include "engine/sync/wait_queue.h"

namespace vsb::engine {

void WaitQueue::prepare(WaitEntry& entry, Task& task, bool exclusive) noexcept {
    lock_.lock();
    if (!entry.queued.load(std::memory_order_relaxed)) {
        entry.task = &task;
        entry.exclusive = exclusive;
        // As the kernel: exclusive waiters at the tail, the others at the head.
        if (exclusive) {
            entry.prev = last_;
            entry.next = nullptr;
            (last_ != nullptr ? last_->next : first_) = &entry;
            last_ = &entry;
        } else {
            entry.prev = nullptr;
            entry.next = first_;
            (first_ != nullptr ? first_->prev : last_) = &entry;
            first_ = &entry;
        }
        entry.queued.store(true, std::memory_order_relaxed);
        length_.fetch_add(1, std::memory_order_seq_cst);
    }
    task.set_sleeping();
    lock_.unlock();
}

void WaitQueue::unlink(WaitEntry& entry) noexcept {
    (entry.prev != nullptr ? entry.prev->next : first_) = entry.next;
    (entry.next != nullptr ? entry.next->prev : last_) = entry.prev;
    length_.fetch_sub(1, std::memory_order_seq_cst);
    // Last: finish_wait may now return without the lock, and the entry be gone.
    entry.queued.store(false, std::memory_order_release);
}

void WaitQueue::finish_wait(WaitEntry& entry) noexcept {
    entry.task->set_running();
    if (!entry.queued.load(std::memory_order_acquire)) return;
    lock_.lock();
    if (entry.queued.load(std::memory_order_relaxed)) unlink(entry);
    lock_.unlock();
}

Woken WaitQueue::wake_up() noexcept {
    Woken woken;
    // All of them in one go, whatever number of threads a trial has: a woken task that finds
    // nothing queues itself again, and must not be woken once more by the call that woke it.
    std::array<Task*, 128> tasks;
    for (bool more = true; more;) {
        std::size_t n = 0;
        more = false;
        lock_.lock();
        while (first_ != nullptr) {
            if (n == tasks.size()) {
                more = true;
                break;
            }
            WaitEntry& entry = *first_;
            const bool exclusive = entry.exclusive;
            tasks[n++] = entry.task;
            unlink(entry);
            if (exclusive) break;
        }
        lock_.unlock();
        for (std::size_t i = 0; i < n; ++i)
            woken.system_calls += tasks[i]->wake() ? 1 : 0;
        woken.tasks += static_cast<unsigned>(n);
    }
    return woken;
}

}  // namespace vsb::engine
