#pragma once
// What a trial under the virtual clock runs on: CPUs that need not exist, and what things cost.

#include <cstdint>

#include "engine/costs.h"

namespace vsb::engine {

struct VirtualMachine {
    static constexpr unsigned kMostCpus = 64;

    unsigned cpus = 2;       // 1 to 64, numbered from 0; Placement's CPUs are among them
    std::uint64_t seed = 1;  // of the jitter
    double jitter = 0.05;    // each cost is drawn from this far around its price, 0 to 1
    Costs costs = default_costs();
};

// Throws std::invalid_argument.
void check_virtual_machine(const VirtualMachine& machine);

}  // namespace vsb::engine
