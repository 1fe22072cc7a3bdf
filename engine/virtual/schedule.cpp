#include "engine/virtual/schedule.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <stdexcept>
#include <system_error>

#include "engine/sync/task.h"
#include "engine/sync/virtual_time.h"

namespace vsb::engine {
namespace {

// Not 0, which stands for "has not happened" where times are kept.
constexpr std::uint64_t kStartPs = 1'000'000'000'000;
constexpr std::uint64_t kSlicePs = 3'000'000'000;  // as long as a scheduler lets a thread run
constexpr std::uint64_t kOne = std::uint64_t{1} << 20;
// How many switches and looks before the real clock and `stop` are looked at.
constexpr std::uint64_t kStepsBetweenLooks = 1 << 16;

std::uint64_t mixed(std::uint64_t x) noexcept {  // splitmix64
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

}  // namespace

struct Schedule::Thread {
    std::string name;
    const std::function<void()>* body = nullptr;
    Task* task = nullptr;
    std::size_t cpu = 0;
    std::uint64_t time = kStartPs;
    std::uint64_t turn = 0;  // of those at one time, the smallest goes first
    std::uint64_t random = 0;
    bool asleep = false;
    bool over = false;
    std::optional<Fiber> fiber;
};

void check_virtual_machine(const VirtualMachine& machine) {
    if (machine.cpus < 1 || machine.cpus > VirtualMachine::kMostCpus)
        throw std::invalid_argument("a virtual machine has 1 to " +
                                    std::to_string(VirtualMachine::kMostCpus) + " CPUs, not " +
                                    std::to_string(machine.cpus));
    if (!(machine.jitter >= 0 && machine.jitter <= 1))
        throw std::invalid_argument("the jitter is not within 0 and 1");
    check_costs(machine.costs);
}

Schedule::Schedule(const VirtualMachine& machine)
    : machine_(machine), jitter_(0), cpus_(machine.cpus), frontier_ps_(kStartPs) {
    check_virtual_machine(machine);
    jitter_ = static_cast<std::uint64_t>(std::llround(machine.jitter * kOne));
    for (std::size_t i = 0; i < kCosts; ++i)
        price_ps_[i] = static_cast<std::uint64_t>(std::llround(machine.costs.ns[i] * 1000));
}

Schedule::~Schedule() = default;

std::uint64_t Schedule::now_ns() const noexcept {
    return (current_ != nullptr ? current_->time : frontier_ps_) / 1000;
}

// Threads without a CPU of their own go round the CPUs that nobody is pinned to.
void Schedule::place(const std::vector<Crew::Member>& members, std::string& failure) {
    std::vector<bool> pinned(cpus_.size());
    for (const Crew::Member& member : members) {
        if (!member.cpu) continue;
        if (*member.cpu < 0 || static_cast<std::size_t>(*member.cpu) >= cpus_.size()) {
            failure = "pinning the " + member.name + ": the virtual machine has no CPU " +
                      std::to_string(*member.cpu);
            return;
        }
        pinned[static_cast<std::size_t>(*member.cpu)] = true;
    }
    std::vector<std::size_t> free;
    for (std::size_t cpu = 0; cpu < cpus_.size(); ++cpu)
        if (!pinned[cpu]) free.push_back(cpu);
    for (std::size_t cpu = 0; free.empty() && cpu < cpus_.size(); ++cpu)
        free.push_back(cpu);
    std::size_t next = 0;
    threads_.clear();
    by_task_.clear();
    for (const Crew::Member& member : members) {
        auto thread = std::make_unique<Thread>();
        thread->name = member.name;
        thread->body = &member.body;
        thread->task = member.task;
        thread->cpu =
            member.cpu ? static_cast<std::size_t>(*member.cpu) : free[next++ % free.size()];
        thread->time = frontier_ps_;
        thread->turn = ++turns_;
        thread->random = mixed(machine_.seed * 0x100000001b3 + threads_.size());
        if (member.task != nullptr) by_task_[member.task] = thread.get();
        Thread& self = *thread;
        thread->fiber.emplace([this, &self] { live(self); });
        threads_.push_back(std::move(thread));
    }
}

void Schedule::live(Thread& thread) noexcept {
    try {
        (*thread.body)();
    } catch (const std::exception& e) {  // a hook of the caller
        if (failure_.empty()) failure_ = "the " + thread.name + " failed: " + e.what();
    }
    thread.over = true;
    --alive_;
    leave_cpu();
    current_ = earliest();
    set_horizon();
    Fiber& next = current_ != nullptr ? *current_->fiber : main_;
    next.switch_from(*thread.fiber, true);
}

Crew::Result Schedule::run(const std::vector<Crew::Member>& members, std::uint64_t limit_ns,
                           const std::function<bool()>& stop) {
    using Clock = std::chrono::steady_clock;
    Crew::Result result;
    const auto began = Clock::now();
    try {
        place(members, result.failure);
    } catch (const std::system_error& e) {
        result.failure = std::string("starting a thread: ") + e.what();
    }
    if (!result.failure.empty()) {
        threads_.clear();
        result.end = Crew::End::could_not_start;
        return result;
    }
    failure_.clear();
    alive_ = threads_.size();
    for (const auto& thread : threads_) {
        Cpu& cpu = cpus_[thread->cpu];
        if (cpu.running == nullptr)
            take(cpu, *thread, thread->time);
        else
            cpu.ready.push_back(thread.get());
    }
    std::exception_ptr stop_threw;
    bool given_up = false;
    const auto give_up = [&](Crew::End end) {
        if (!given_up) result.end = end;
        given_up = true;
        for (const auto& thread : threads_)
            if (thread->task != nullptr) thread->task->interrupt();
    };
    while (alive_ != 0) {
        if (Thread* next = earliest(); next != nullptr) {
            current_ = next;
            set_horizon();
            next->fiber->switch_from(main_);
            current_ = nullptr;
        } else if (!given_up) {
            if (failure_.empty()) failure_ = sleepers();
            give_up(Crew::End::deadline);
            continue;
        } else {
            break;  // asleep on something that an interrupt does not end
        }
        if (alive_ == 0) break;
        try {
            const auto spent = static_cast<std::uint64_t>((Clock::now() - began).count());
            if (given_up)
                give_up(result.end);
            else if (stop && stop())
                give_up(Crew::End::stopped);
            else if (spent >= limit_ns || !failure_.empty())
                give_up(Crew::End::deadline);
        } catch (...) {
            stop_threw = std::current_exception();
            give_up(Crew::End::stopped);
        }
    }
    for (Cpu& cpu : cpus_)
        cpu = Cpu{};
    by_task_.clear();
    threads_.clear();
    if (stop_threw) std::rethrow_exception(stop_threw);
    result.failure = failure_;
    return result;
}

std::string Schedule::sleepers() const {
    std::string names;
    std::size_t others = 0;
    for (const auto& thread : threads_) {
        if (thread->over) continue;
        if (names.size() > 60)
            ++others;
        else
            names += (names.empty() ? "" : ", ") + thread->name;
    }
    if (others != 0) names += " and " + std::to_string(others) + " more";
    return "a wake was lost: every thread sleeps (" + names + ") and none is left to wake another";
}

Schedule::Thread* Schedule::earliest() const noexcept {
    Thread* best = nullptr;
    for (const Cpu& cpu : cpus_) {
        Thread* thread = cpu.running;
        if (thread == nullptr) continue;
        if (best == nullptr || thread->time < best->time ||
            (thread->time == best->time && thread->turn < best->turn))
            best = thread;
    }
    return best;
}

void Schedule::set_horizon() noexcept {
    horizon_ps_ = UINT64_MAX;
    if (current_ == nullptr) return;
    for (const Cpu& cpu : cpus_)
        if (cpu.running != nullptr && cpu.running != current_)
            horizon_ps_ = std::min(horizon_ps_, cpu.running->time);
    const Cpu& own = cpus_[current_->cpu];
    if (!own.ready.empty()) horizon_ps_ = std::min(horizon_ps_, own.slice_ends);
}

void Schedule::take(Cpu& cpu, Thread& thread, std::uint64_t at) noexcept {
    cpu.running = &thread;
    thread.time = std::max({thread.time, at, cpu.free_from});
    cpu.slice_ends = thread.time + kSlicePs;
}

// The current thread gives its CPU to the next that is ready there.
void Schedule::leave_cpu() noexcept {
    Cpu& cpu = cpus_[current_->cpu];
    frontier_ps_ = std::max(frontier_ps_, current_->time);
    cpu.running = nullptr;
    cpu.free_from = current_->time;
    if (cpu.ready.empty()) return;
    Thread& next = *cpu.ready.front();
    cpu.ready.pop_front();
    take(cpu, next, current_->time);
}

void Schedule::rotate() noexcept {
    Cpu& cpu = cpus_[current_->cpu];
    if (cpu.ready.empty()) return;
    pay(Cost::context_switch, 1);
    cpu.ready.push_back(current_);
    leave_cpu();
}

// Lets the thread run that is furthest behind; returns when that is the caller again.
void Schedule::go_on() noexcept {
    Thread* self = current_;
    const bool look = ++steps_ % kStepsBetweenLooks == 0;
    Thread* next = earliest();
    if (next != self || look) {
        Fiber& to = look || next == nullptr ? main_ : *next->fiber;
        current_ = look ? nullptr : next;
        set_horizon();
        // Every thread that is listed has its fiber until the schedule ends, which the analyser
        // cannot see.
        // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage)
        to.switch_from(*self->fiber);
        // Whoever came back here has set current_.
    }
    set_horizon();
}

void Schedule::pay_ps(std::uint64_t ps) noexcept {
    if (current_ != nullptr) current_->time += ps;
}

void Schedule::pay(Cost cost, std::uint64_t times) noexcept {
    if (current_ != nullptr) pay_of(*current_, cost, times);
}

void Schedule::pay_of(Thread& thread, Cost cost, std::uint64_t times) noexcept {
    const std::uint64_t ps = price_ps_[static_cast<std::size_t>(cost)] * times;
    if (ps == 0) return;
    if (jitter_ == 0) {
        thread.time += ps;
        return;
    }
    thread.random = mixed(thread.random);
    // 1 - jitter to 1 + jitter, in 2^-20: whole numbers, so that every compiler gives one result.
    const std::uint64_t factor = kOne - jitter_ + (2 * jitter_ * (thread.random >> 44) >> 20);
    thread.time += (ps >> 20) * factor + ((ps & (kOne - 1)) * factor >> 20);
}

void Schedule::meet() noexcept {
    if (current_ == nullptr || current_->time <= horizon_ps_) {
        // A thread that never meets another must still notice that it is to stop.
        if (current_ != nullptr && ++steps_ % kStepsBetweenLooks == 0) {
            --steps_;
            go_on();
        }
        return;
    }
    const Cpu& cpu = cpus_[current_->cpu];
    if (!cpu.ready.empty() && current_->time > cpu.slice_ends) rotate();
    go_on();
}

void Schedule::spend(Cost cost, std::uint64_t times) noexcept {
    pay(cost, times);
    meet();
}

void Schedule::relax() noexcept {
    if (current_ == nullptr) return;
    pay(Cost::spin, 1);
    std::uint64_t others = UINT64_MAX;
    for (const Cpu& cpu : cpus_)
        if (cpu.running != nullptr && cpu.running != current_)
            others = std::min(others, cpu.running->time);
    // Nothing can change before the next of the others does something.
    if (others != UINT64_MAX) current_->time = std::max(current_->time, others);
    current_->turn = ++turns_;
    const Cpu& cpu = cpus_[current_->cpu];
    if (!cpu.ready.empty() && current_->time > cpu.slice_ends) rotate();
    go_on();
}

void Schedule::yield() noexcept {
    if (current_ == nullptr) return;
    rotate();
    relax();
}

void Schedule::sleep(Task& task) noexcept {
    static_cast<void>(task);
    pay(Cost::context_switch, 1);
    current_->asleep = true;
    leave_cpu();
    go_on();
}

void Schedule::wake(Task& task) noexcept {
    const auto found = by_task_.find(&task);
    if (found == by_task_.end() || !found->second->asleep) return;
    Thread& thread = *found->second;
    thread.asleep = false;
    thread.turn = ++turns_;
    thread.time = std::max(thread.time, current_ != nullptr ? current_->time : frontier_ps_);
    pay_of(thread, Cost::wake_latency, 1);
    Cpu& cpu = cpus_[thread.cpu];
    if (cpu.running == nullptr)
        take(cpu, thread, thread.time);
    else
        cpu.ready.push_back(&thread);
    set_horizon();
    spend(Cost::wake, 1);
}

UnderSchedule::UnderSchedule(Schedule& schedule) noexcept {
    t_schedule = &schedule;
}

UnderSchedule::~UnderSchedule() {
    t_schedule = nullptr;
}

namespace virtual_time {

void spend(Cost cost, std::uint64_t times) noexcept {
    t_schedule->spend(cost, times);
}

void pay(Cost cost, std::uint64_t times) noexcept {
    t_schedule->pay(cost, times);
}

void pay_ns(std::uint64_t ns) noexcept {
    t_schedule->pay_ps(ns * 1000);
    t_schedule->meet();
}

void meet() noexcept {
    t_schedule->meet();
}

void relax() noexcept {
    t_schedule->relax();
}

void yield() noexcept {
    t_schedule->yield();
}

void sleep(Task& task) noexcept {
    t_schedule->sleep(task);
}

void wake(Task& task) noexcept {
    t_schedule->wake(task);
}

std::uint64_t now_ns() noexcept {
    return t_schedule->now_ns();
}

}  // namespace virtual_time
}  // namespace vsb::engine
