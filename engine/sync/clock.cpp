#include "engine/sync/clock.h"

#include <algorithm>
#include <array>

namespace vsb::engine {

std::uint64_t measure_clock_cost_ns() noexcept {
    std::array<std::uint64_t, 1001> cost{};
    std::uint64_t before = now_ns();
    for (auto& c : cost) {
        const std::uint64_t after = now_ns();
        c = after - before;
        before = after;
    }
    std::nth_element(cost.begin(), cost.begin() + 500, cost.end());
    return cost[500];
}

}  // namespace vsb::engine
