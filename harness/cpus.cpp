#include "harness/cpus.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <stdexcept>
#include <system_error>

#include "harness/value_text.h"

namespace vsb::harness {
namespace {

constexpr int kHighestCpu = 65535;

int parse_cpu(std::string_view text) {
    const std::uint64_t cpu = parse_count(text);
    if (cpu > kHighestCpu) {
        throw std::invalid_argument("'" + std::string(text) + "' is no CPU number");
    }
    return static_cast<int>(cpu);
}

}  // namespace

std::vector<std::pair<std::string, int>> roles(const CpuPlacement& placement) {
    std::vector<std::pair<std::string, int>> named;
    if (placement.receiver) named.emplace_back("receiver", *placement.receiver);
    if (placement.worker) named.emplace_back("worker", *placement.worker);
    if (placement.device) named.emplace_back("device", *placement.device);
    if (placement.sender) named.emplace_back("sender", *placement.sender);
    return named;
}

CpuPlacement parse_cpu_placement(std::string_view text) {
    CpuPlacement placement;
    for (const auto& [role, value] : split_assignments(text)) {
        const int cpu = parse_cpu(value);
        if (role == "receiver") {
            placement.receiver = cpu;
        } else if (role == "worker") {
            placement.worker = cpu;
        } else if (role == "device") {
            placement.device = cpu;
        } else if (role == "sender") {
            placement.sender = cpu;
        } else {
            throw std::invalid_argument("'" + role +
                                        "' is no role (receiver, worker, device, sender)");
        }
    }
    return placement;
}

std::string cpu_placement_text(const CpuPlacement& placement) {
    std::string text;
    for (const auto& [role, cpu] : roles(placement)) {
        if (!text.empty()) text += ',';
        text += role + '=' + std::to_string(cpu);
    }
    return text;
}

std::vector<int> parse_cpu_list(std::string_view text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
        text.remove_suffix(1);
    std::vector<int> cpus;
    for (const std::string& item : split_list(text)) {
        const std::size_t dash = item.find('-');
        const int low = parse_cpu(std::string_view(item).substr(0, dash));
        const int high =
            dash == std::string::npos ? low : parse_cpu(std::string_view(item).substr(dash + 1));
        if (high < low) throw std::invalid_argument("'" + item + "' is no range of CPUs");
        for (int cpu = low; cpu <= high; ++cpu)
            cpus.push_back(cpu);
    }
    std::ranges::sort(cpus);
    cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
    return cpus;
}

std::string cpu_list_text(const std::vector<int>& cpus) {
    std::string text;
    for (std::size_t i = 0; i < cpus.size();) {
        std::size_t last = i;
        while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1)
            ++last;
        if (!text.empty()) text += ',';
        text += std::to_string(cpus[i]);
        if (last > i) text += '-' + std::to_string(cpus[last]);
        i = last + 1;
    }
    return text;
}

std::vector<int> allowed_cpus() {
    // The kernel refuses a mask smaller than its own with EINVAL: grow until it fits.
    for (int count = 1024; count <= kHighestCpu + 1; count *= 2) {
        cpu_set_t* set = CPU_ALLOC(static_cast<std::size_t>(count));
        if (set == nullptr) throw std::bad_alloc();
        const std::size_t size = CPU_ALLOC_SIZE(static_cast<std::size_t>(count));
        CPU_ZERO_S(size, set);
        const int result = sched_getaffinity(0, size, set);
        const int error = errno;
        std::vector<int> cpus;
        for (int cpu = 0; result == 0 && cpu < count; ++cpu) {
            if (CPU_ISSET_S(static_cast<std::size_t>(cpu), size, set)) cpus.push_back(cpu);
        }
        CPU_FREE(set);
        if (result == 0) return cpus;
        if (error != EINVAL) {
            throw std::system_error(error, std::generic_category(), "sched_getaffinity");
        }
    }
    throw std::system_error(EINVAL, std::generic_category(), "sched_getaffinity");
}

bool pin_this_thread(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (cpu < 0 || cpu >= CPU_SETSIZE) return false;
    CPU_SET(static_cast<std::size_t>(cpu), &set);
    return pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0;
}

void check_allowed(const CpuPlacement& placement, const std::vector<int>& allowed) {
    for (const auto& [role, cpu] : roles(placement)) {
        if (std::ranges::find(allowed, cpu) == allowed.end()) {
            throw std::invalid_argument(
                role + "=" + std::to_string(cpu) + ": CPU " + std::to_string(cpu) +
                " is not one this process may run on (choose from " + cpu_list_text(allowed) + ")");
        }
    }
}

CpuPlacement with_defaults(CpuPlacement placement, const std::vector<int>& allowed) {
    const auto first_other_than = [&](std::initializer_list<std::optional<int>> taken) {
        const auto free = std::ranges::find_if(allowed, [&](int cpu) {
            return std::ranges::find(taken, std::optional<int>(cpu)) == taken.end();
        });
        return free == allowed.end() ? std::nullopt : std::optional<int>(*free);
    };
    // The device's CPU is kept clear where it can be; the partner's comes before that.
    const auto pick = [&](std::optional<int> partner) {
        if (const auto cpu = first_other_than({partner, placement.device})) return cpu;
        if (const auto cpu = first_other_than({partner})) return cpu;
        return first_other_than({});
    };
    if (!placement.receiver) placement.receiver = pick(placement.worker);
    if (!placement.worker) placement.worker = pick(placement.receiver);
    return placement;
}

}  // namespace vsb::harness
