#pragma once
// The seam between the engine and its two clocks. In a measured run every function here is one
// predicted branch and nothing else; under the virtual clock they go to the schedule that the
// calling thread of control belongs to (engine/virtual/schedule.h).
//
// Code that costs something in a kernel says so with spend(), outside every spinlock, before its
// effect: time passes, and threads that are behind in time do what they have to do before it.
// pay() is for code inside a spinlock: time passes, nobody else runs. meet() costs nothing and only
// lets the others catch up: it stands before a look at what they share.

#include <cstdint>

#include "engine/costs.h"

namespace vsb::engine {

class Schedule;
class Task;

// Of the calling thread; set while it runs a trial under the virtual clock.
inline constinit thread_local Schedule* t_schedule = nullptr;

namespace virtual_time {
// Out of line and cold: of t_schedule.
void spend(Cost cost, std::uint64_t times) noexcept;
void pay(Cost cost, std::uint64_t times) noexcept;
void pay_ns(std::uint64_t ns) noexcept;
void meet() noexcept;
void relax() noexcept;
void yield() noexcept;
void sleep(Task& task) noexcept;
void wake(Task& task) noexcept;
std::uint64_t now_ns() noexcept;
}  // namespace virtual_time

inline bool is_virtual() noexcept {
    return __builtin_expect(static_cast<long>(t_schedule != nullptr), 0L) != 0;
}
inline void spend(Cost cost, std::uint64_t times = 1) noexcept {
    if (is_virtual()) virtual_time::spend(cost, times);
}
inline void pay(Cost cost, std::uint64_t times = 1) noexcept {
    if (is_virtual()) virtual_time::pay(cost, times);
}
inline void meet() noexcept {
    if (is_virtual()) virtual_time::meet();
}

}  // namespace vsb::engine
