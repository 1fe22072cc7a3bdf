#include "engine/costs.h"

#include <cmath>
#include <stdexcept>
#include <string>

namespace vsb::engine {

std::span<const CostInfo, kCosts> cost_table() {
    static constexpr std::array<CostInfo, kCosts> kTable{{
        {"system_call", "entering the kernel for a recv() or a write(): here a function call", 0},
        {"wake", "waking a thread that sleeps, to the waker", 6000},
        {"wake_latency", "from that wake until the woken thread runs", 10000},
        {"context_switch", "leaving the CPU, to sleep or to let another thread run", 1200},
        {"lock", "taking and releasing a lock that nobody holds", 20},
        {"lock_handover", "on top, when another thread held it last: its line moves", 80},
        {"lookup", "finding the socket in the connected or the bound table", 20},
        {"packet", "the guest's own work on a packet: ring, checks, queueing", 80},
        {"device_packet", "the device's own work on a packet: descriptor, header", 40},
        {"post_buffer", "making an RX buffer and posting it", 10},
        {"publish", "advancing a used index, which the other side looks at", 10},
        {"copy_byte", "copying one byte to or from memory that another CPU had last", 0.1},
        {"compare_byte", "comparing one received byte, just copied, with the one that was sent",
         0.03},
        {"notification", "calling data-ready or write-space, nobody woken", 5},
        {"kick", "telling the device of buffers: a VM exit, which user space has not", 0},
        {"interrupt", "taking an interrupt of the device, which user space has not", 0},
        {"spin", "one look of a thread that polls", 10},
    }};
    return kTable;
}

Costs default_costs() {
    Costs costs;
    for (std::size_t i = 0; i < kCosts; ++i)
        costs.ns[i] = cost_table()[i].default_ns;
    return costs;
}

Cost find_cost(std::string_view name) {
    std::string names;
    for (std::size_t i = 0; i < kCosts; ++i) {
        if (cost_table()[i].name == name) return static_cast<Cost>(i);
        names += (names.empty() ? "" : ", ") + std::string(cost_table()[i].name);
    }
    throw std::invalid_argument("there is no cost '" + std::string(name) + "' (there are " + names +
                                ")");
}

void check_costs(const Costs& costs) {
    for (std::size_t i = 0; i < kCosts; ++i) {
        const double ns = costs.ns[i];
        if (std::isfinite(ns) && ns >= 0 && ns <= kMostCostNs) continue;
        throw std::invalid_argument("the cost " + std::string(cost_table()[i].name) + " is " +
                                    std::to_string(ns) + " ns, allowed are 0 to 1000000");
    }
}

}  // namespace vsb::engine
