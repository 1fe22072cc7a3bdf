#pragma once
// The virtual clock: threads of a trial as fibers on one thread of the system, each with a time of
// its own, on CPUs that are figures. A discrete-event schedule: of the threads that have a CPU the
// one that is furthest behind runs, until it would overtake another at a place where they could see
// each other (spend, meet). So the same code, costs and seed give the same run, to the last digit,
// whatever else the machine does.
//
// Time passes only by the costs of engine/costs.h. Time is kept in picoseconds.
//
// Left out: preemption of a running thread by one that wakes (it waits for the end of a time slice
// or a sleep), migration (a thread stays on the CPU it was given), caches, and interrupts that
// steal time from a thread that happens to run there.

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/sync/crew.h"
#include "engine/virtual/fiber.h"
#include "engine/virtual/virtual_machine.h"

namespace vsb::engine {

class Schedule {
  public:
    explicit Schedule(const VirtualMachine& machine);
    ~Schedule();
    Schedule(const Schedule&) = delete;
    Schedule& operator=(const Schedule&) = delete;

    // What Crew::run does, with fibers: `limit_ns` and `stop` go by real time. When every thread
    // sleeps, nobody is left to wake one: the failure says that a wake was lost.
    Crew::Result run(const std::vector<Crew::Member>& members, std::uint64_t limit_ns,
                     const std::function<bool()>& stop);

    std::uint64_t now_ns() const noexcept;

    // Of the running fiber; outside of one (set-up) they do nothing.
    void spend(Cost cost, std::uint64_t times) noexcept;
    void pay(Cost cost, std::uint64_t times) noexcept;
    void pay_ps(std::uint64_t ps) noexcept;
    void meet() noexcept;
    // One look of a polling loop: whatever the others do up to now comes first.
    void relax() noexcept;
    // sched_yield: the next thread of this CPU, if there is one.
    void yield() noexcept;
    void sleep(Task& task) noexcept;
    void wake(Task& task) noexcept;

  private:
    struct Thread;
    struct Cpu {
        Thread* running = nullptr;  // has the CPU, from its time on
        std::deque<Thread*> ready;
        std::uint64_t free_from = 0;
        std::uint64_t slice_ends = 0;
    };

    void place(const std::vector<Crew::Member>& members, std::string& failure);
    void live(Thread& thread) noexcept;
    Thread* earliest() const noexcept;
    void go_on() noexcept;
    void pay_of(Thread& thread, Cost cost, std::uint64_t times) noexcept;
    void set_horizon() noexcept;
    void take(Cpu& cpu, Thread& thread, std::uint64_t at) noexcept;
    void leave_cpu() noexcept;
    void rotate() noexcept;
    std::string sleepers() const;

    const VirtualMachine machine_;
    std::array<std::uint64_t, kCosts> price_ps_{};
    std::uint64_t jitter_;  // in 2^-20
    std::vector<Cpu> cpus_;
    std::vector<std::unique_ptr<Thread>> threads_;
    std::unordered_map<const Task*, Thread*> by_task_;
    Fiber main_;
    Thread* current_ = nullptr;
    std::size_t alive_ = 0;
    std::uint64_t frontier_ps_;     // the latest time anything happened at
    std::uint64_t horizon_ps_ = 0;  // up to here the current thread is behind all others
    std::uint64_t turns_ = 0;
    std::uint64_t steps_ = 0;
    std::string failure_;
};

// Makes `schedule` the calling thread's for its lifetime.
class UnderSchedule {
  public:
    explicit UnderSchedule(Schedule& schedule) noexcept;
    ~UnderSchedule();
    UnderSchedule(const UnderSchedule&) = delete;
    UnderSchedule& operator=(const UnderSchedule&) = delete;
};

}  // namespace vsb::engine
