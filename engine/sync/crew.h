#pragma once
// The threads of a trial: each pinned if asked, all let go at once, watched against a deadline and
// a stop request, and always joined.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/sync/task.h"

namespace vsb::engine {

class Crew {
  public:
    struct Member {
        std::string name;  // "worker", for messages
        std::optional<int> cpu;
        Task* task = nullptr;  // interrupted when the trial is given up
        std::function<void()> body;
    };

    enum class End : std::uint8_t { finished, deadline, stopped, could_not_start };

    struct Result {
        End end = End::finished;
        // Refused affinity, a CPU mask that changed, a thread that could not be made.
        std::string failure;
    };

    // Runs all members to their end: threads of the system, or, under the virtual clock, fibers of
    // its schedule. `deadline_ns` is a time of real_now_ns(). When it passes, `stop`
    // returns true, or a member cannot be pinned, every task is interrupted; run returns once all
    // threads have ended. Exceptions of `stop` pass through after that.
    static Result run(const std::vector<Member>& members, std::uint64_t deadline_ns,
                      const std::function<bool()>& stop);
};

}  // namespace vsb::engine
