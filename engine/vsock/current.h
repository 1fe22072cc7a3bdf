#pragma once
// The running thread, as the kernel's `current`: what it sleeps with and what it counts into.

#include "engine/sync/task.h"
#include "engine/sync/wait_queue.h"
#include "engine/vsock/counters.h"

namespace vsb::engine {

struct Current {
    Task task;
    Counters counts;
    bool owns_buffers = false;  // the one thread that takes buffers from the SkbPool

    void count(const Woken& woken) noexcept {
        counts.wakeups += woken.tasks;
        counts.wake_system_calls += woken.system_calls;
    }
    void sleep() noexcept { counts.sleeps += task.schedule() ? 1 : 0; }
};

}  // namespace vsb::engine
