#pragma once
// Which CPUs there are, which may be used, and who runs on which.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vsb::harness {

// Unset: the target's choice (receiver, worker) or no CPU of its own (device, sender).
struct CpuPlacement {
    std::optional<int> receiver;
    std::optional<int> worker;
    std::optional<int> device;
    std::optional<int> sender;

    bool operator==(const CpuPlacement&) const = default;
};

// The roles that are set, by name, in the order receiver, worker, device, sender.
std::vector<std::pair<std::string, int>> roles(const CpuPlacement& placement);

// "receiver=0,worker=1". Throws std::invalid_argument naming the roles there are.
CpuPlacement parse_cpu_placement(std::string_view text);
std::string cpu_placement_text(const CpuPlacement& placement);

// The kernel's list format, as in /sys/devices/system/cpu/online: "0-3,8" -> 0 1 2 3 8; an empty
// text is no CPUs. Throws std::invalid_argument: malformed, descending, above 65535.
std::vector<int> parse_cpu_list(std::string_view text);
std::string cpu_list_text(const std::vector<int>& cpus);

// The CPUs this process may run on (sched_getaffinity). Throws std::system_error.
std::vector<int> allowed_cpus();

// False: the CPU is not there or refused; the thread then runs where it did.
bool pin_this_thread(int cpu);

// Throws std::invalid_argument naming the first role whose CPU is not allowed.
void check_allowed(const CpuPlacement& placement, const std::vector<int>& allowed);

// The placement with receiver and worker filled in: two different allowed CPUs where there are two.
CpuPlacement with_defaults(CpuPlacement placement, const std::vector<int>& allowed);

}  // namespace vsb::harness
