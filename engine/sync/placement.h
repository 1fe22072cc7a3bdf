#pragma once
// CPUs of threads: pinning with the mask read back, and the idle-priority spinners that keep CPUs
// awake. Source: sched(7), sched_setaffinity(2).

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace vsb::engine {

// CPUs this process may run on, ascending. Empty if the system does not say.
std::vector<int> allowed_cpus();

// Pins the calling thread and reads the mask back. Empty when it holds exactly `cpu`; otherwise
// what went wrong.
std::string pin_this_thread(int cpu);
// Is the calling thread still pinned to exactly `cpu`? Empty if so.
std::string check_pinned(int cpu);

// One thread a CPU under SCHED_IDLE that never sleeps. Any other thread pre-empts it; the CPU
// never enters an idle state. Joined by the destructor.
class IdlePollers {
  public:
    explicit IdlePollers(const std::vector<int>& cpus);
    ~IdlePollers();
    IdlePollers(const IdlePollers&) = delete;
    IdlePollers& operator=(const IdlePollers&) = delete;

    // What a spinner could not do; empty if all of them run as asked. Waits until they have tried.
    std::string failure();

  private:
    std::atomic<bool> stop_{false};
    std::atomic<unsigned> tried_{0};
    std::vector<std::string> failures_;
    std::vector<std::jthread> threads_;
};

}  // namespace vsb::engine
