#pragma once
// One trial: its threads as a Crew, the caller's hooks, and the one reason why it failed, if it
// did. A trial ends when every role returned; it is ended early by the deadline, by the caller's
// stop, or by the first role that fails. Roles look at ended() in every loop; one that sleeps does
// so as the Task it is given, which is interrupted when the trial ends early.

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/run.h"
#include "engine/sync/task.h"

namespace vsb::engine::trial {

struct Role {
    std::string name;  // for messages
    std::optional<int> cpu;
    std::function<void(pid_t)> starts;  // may be empty, as may ends
    std::function<void(pid_t)> ends;
    std::function<void(Task&)> body;
    Task* task = nullptr;  // what it sleeps as, if the caller has one; it must outlive run()
};

class Trial {
  public:
    // deadline_ns from now. stop may be empty; it is called on the caller's thread only.
    Trial(std::uint64_t deadline_ns, std::function<bool()> stop);

    void add(Role role) { roles_.push_back(std::move(role)); }

    // Runs every role to its end. Adds warnings about CPUs; with idle_poll, idle-priority spinners
    // keep the roles' CPUs awake meanwhile. What a role, a hook or stop throws becomes failure().
    void run(bool idle_poll, std::vector<Warning>& warnings);

    bool ended() const noexcept { return ended_.load(std::memory_order_seq_cst); }
    // Thread-safe; the first reason is kept, and the trial is ended.
    void fail(const std::string& reason) noexcept;
    std::string failure() const;

  private:
    void play(const Role& role) noexcept;
    bool look() noexcept;

    std::uint64_t deadline_;
    std::function<bool()> stop_;
    std::vector<Role> roles_;
    std::unique_ptr<Task[]> tasks_;  // for roles without one; they outlive every wake

    std::atomic<bool> ended_{false};
    mutable std::mutex mutex_;
    std::string failure_;
};

}  // namespace vsb::engine::trial
