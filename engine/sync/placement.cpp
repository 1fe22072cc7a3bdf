#include "engine/sync/placement.h"

#include <sched.h>

#include <cerrno>
#include <system_error>

#include "engine/sync/spinlock.h"

namespace vsb::engine {
namespace {

std::string error_text(int error) {
    return std::generic_category().message(error);
}

}  // namespace

std::vector<int> allowed_cpus() {
    std::vector<int> cpus;
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    return cpus;
}

std::string check_pinned(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return "reading the CPU mask back: " + error_text(errno);
    if (CPU_COUNT(&set) == 1 && CPU_ISSET(cpu, &set)) return {};
    return "the CPU mask read back holds " + std::to_string(CPU_COUNT(&set)) + " CPUs, not CPU " +
           std::to_string(cpu) + " alone";
}

std::string pin_this_thread(int cpu) {
    if (cpu < 0 || cpu >= CPU_SETSIZE) return "there is no CPU " + std::to_string(cpu);
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        return "CPU " + std::to_string(cpu) + " refused: " + error_text(errno);
    return check_pinned(cpu);
}

IdlePollers::IdlePollers(const std::vector<int>& cpus) : failures_(cpus.size()) {
    threads_.reserve(cpus.size());
    for (std::size_t i = 0; i < cpus.size(); ++i) {
        threads_.emplace_back([this, i, cpu = cpus[i]] {
            failures_[i] = pin_this_thread(cpu);
            const sched_param none{};
            if (failures_[i].empty() && sched_setscheduler(0, SCHED_IDLE, &none) != 0)
                failures_[i] =
                    "SCHED_IDLE on CPU " + std::to_string(cpu) + " refused: " + error_text(errno);
            const bool run = failures_[i].empty();
            tried_.fetch_add(1, std::memory_order_release);
            tried_.notify_one();
            while (run && !stop_.load(std::memory_order_relaxed))
                cpu_relax();
        });
    }
}

IdlePollers::~IdlePollers() {
    stop_.store(true, std::memory_order_relaxed);
}

std::string IdlePollers::failure() {
    for (unsigned n = tried_.load(std::memory_order_acquire); n != threads_.size();
         n = tried_.load(std::memory_order_acquire))
        tried_.wait(n, std::memory_order_acquire);
    for (const auto& failure : failures_)
        if (!failure.empty()) return failure;
    return {};
}

}  // namespace vsb::engine
