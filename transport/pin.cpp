#include "transport/pin.h"

#include <sched.h>

#include <cerrno>
#include <string>

#include "transport/errors.h"

namespace vsb::transport {
namespace {

constexpr int kMostCpus = 65536;

struct Mask {
    cpu_set_t* set = CPU_ALLOC(kMostCpus);
    std::size_t size = CPU_ALLOC_SIZE(kMostCpus);
    Mask() {
        if (set == nullptr) throw std::bad_alloc();
        CPU_ZERO_S(size, set);
    }
    Mask(const Mask&) = delete;
    Mask& operator=(const Mask&) = delete;
    ~Mask() { CPU_FREE(set); }
};

bool runs_on_it_alone(int cpu) {
    Mask now;
    return ::sched_getaffinity(0, now.size, now.set) == 0 && CPU_COUNT_S(now.size, now.set) == 1 &&
           CPU_ISSET_S(static_cast<std::size_t>(cpu), now.size, now.set) != 0;
}

[[noreturn]] void reject(int cpu) {
    throw UsageError("--cpu: CPU " + std::to_string(cpu) +
                     " is not there or not among those this process may use");
}

}  // namespace

void check_cpus_allowed(const std::vector<int>& cpus) {
    Mask allowed;
    if (::sched_getaffinity(0, allowed.size, allowed.set) < 0) {
        throw_errno(errno, "asking for the allowed CPUs");
    }
    for (const int cpu : cpus) {
        if (CPU_ISSET_S(static_cast<std::size_t>(cpu), allowed.size, allowed.set) == 0) reject(cpu);
    }
}

void pin_this_thread(int cpu) {
    const std::string name = "CPU " + std::to_string(cpu);
    Mask wanted;
    CPU_SET_S(static_cast<std::size_t>(cpu), wanted.size, wanted.set);
    if (::sched_setaffinity(0, wanted.size, wanted.set) < 0) {
        if (errno == EINVAL) reject(cpu);
        throw_errno(errno, "pinning to", name);
    }
    if (!runs_on_it_alone(cpu)) {
        throw UsageError("--cpu: the kernel did not pin to " + name);
    }
}

void check_pinned(int cpu) {
    if (!runs_on_it_alone(cpu)) {
        throw Failure("the thread lost its CPU " + std::to_string(cpu) + " during the trial");
    }
}

}  // namespace vsb::transport
