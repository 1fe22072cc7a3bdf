#pragma once
// An event one thread sleeps on and any thread rings: a kick as the device's thread sees it
// (vhost's poll of the kick eventfd), an interrupt as the worker sees it (queue_work).

#include <atomic>

#include "engine/sync/wait_queue.h"

namespace vsb::engine {

class alignas(64) Doorbell {
  public:
    Woken ring() noexcept {
        meet();
        rung_.store(true, std::memory_order_seq_cst);
        return sleepers_.has_sleeper() ? sleepers_.wake_up() : Woken{};
    }

    // Returns once rung since the last call, or when the task was interrupted. True if it slept.
    bool wait(Task& task) noexcept {
        bool slept = false;
        while (!rung_.exchange(false, std::memory_order_seq_cst) && !task.interrupted()) {
            WaitEntry entry;
            meet();
            sleepers_.prepare_to_wait(entry, task);
            meet();
            if (!rung_.load(std::memory_order_seq_cst)) slept |= task.schedule();
            sleepers_.finish_wait(entry);
        }
        return slept;
    }

  private:
    std::atomic<bool> rung_{false};
    WaitQueue sleepers_;
};

}  // namespace vsb::engine
