#pragma once
// wait_event(): sleeps on a queue until a condition holds. The side that makes it hold must do so
// with a seq_cst store before it looks at WaitQueue::has_sleeper(); ready() must read with seq_cst.

#include <cstdint>

#include "engine/sync/task.h"
#include "engine/sync/wait_queue.h"

namespace vsb::engine::trial {

// Returns when ready() is true or the task was interrupted: how often it really slept.
template <class Ready>
std::uint64_t sleep_until(WaitQueue& queue, Task& task, Ready ready) noexcept {
    std::uint64_t slept = 0;
    while (!ready() && !task.interrupted()) {
        WaitEntry entry;
        meet();
        queue.prepare_to_wait(entry, task);
        meet();
        if (!ready()) slept += task.schedule() ? 1 : 0;
        queue.finish_wait(entry);
    }
    return slept;
}

}  // namespace vsb::engine::trial
