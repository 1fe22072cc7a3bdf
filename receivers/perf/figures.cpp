#include "receivers/perf/figures.h"

namespace vsb::perf {

Count sum(const std::vector<Count>& counts) {
    if (counts.empty()) return {std::nullopt, "nothing was counted"};
    std::uint64_t total = 0;
    for (const Count& one : counts) {
        if (!one.value) return one;
        total += *one.value;
    }
    return {total, {}};
}

Counts sum(const std::vector<Counts>& counts) {
    std::vector<Count> cycles;
    std::vector<Count> instructions;
    for (const Counts& one : counts) {
        cycles.push_back(one.cycles);
        instructions.push_back(one.instructions);
    }
    return {sum(cycles), sum(instructions)};
}

}  // namespace vsb::perf
