#pragma once
// The named costs of the virtual clock, in one place. A measured run has none of them: its costs
// are what the machine takes. The virtual clock runs the same code and lets time pass only where
// that code names one of these.
//
// The defaults are round figures of two CPUs of a virtual machine (AMD EPYC, Linux 6.18) for what
// the engine does in user space; `vsockbench calibrate` replaces them by a machine's own.
// What only a kernel and a hypervisor charge (system_call, kick, interrupt) is 0 unless asked for,
// as it is in a measured run.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace vsb::engine {

enum class Cost : std::uint8_t {
    system_call,
    wake,
    wake_latency,
    context_switch,
    lock,
    lock_handover,
    lookup,
    packet,
    device_packet,
    post_buffer,
    publish,
    copy_byte,
    compare_byte,
    notification,
    kick,
    interrupt,
    spin,
};
inline constexpr std::size_t kCosts = static_cast<std::size_t>(Cost::spin) + 1;

struct CostInfo {
    std::string_view name;     // "wake_latency": the key in files and options
    std::string_view summary;  // what is paid, by whom
    double default_ns;
};

// In the order of the enumerators.
std::span<const CostInfo, kCosts> cost_table();

// No cost may be larger: a microsecond for a copied byte is no machine.
inline constexpr double kMostCostNs = 1e6;

// A price for each, in nanoseconds; fractions count.
struct Costs {
    std::array<double, kCosts> ns{};

    double& operator[](Cost cost) { return ns[static_cast<std::size_t>(cost)]; }
    double operator[](Cost cost) const { return ns[static_cast<std::size_t>(cost)]; }
    bool operator==(const Costs&) const = default;
};

Costs default_costs();

// Throws std::invalid_argument naming the costs there are.
Cost find_cost(std::string_view name);
// Throws std::invalid_argument: not finite, negative, above kMostCostNs.
void check_costs(const Costs& costs);

}  // namespace vsb::engine
