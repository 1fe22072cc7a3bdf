#include "harness/machine_state.h"

#include <array>
#include <cmath>

#include "harness/value_text.h"

namespace vsb::harness {
namespace {

constexpr double kMaterialFactor = 1.5;
constexpr double kMaterialLoad = 0.10;

struct Quantity {
    const char* name;
    std::optional<double> MachineState::*value;
    bool is_time;
};

constexpr std::array<Quantity, 5> kQuantities{{
    {"wake_cost_ns", &MachineState::wake_cost_ns, true},
    {"wake_latency_ns", &MachineState::wake_latency_ns, true},
    {"syscall_cost_ns", &MachineState::syscall_cost_ns, true},
    {"cache_line_round_trip_ns", &MachineState::cache_line_round_trip_ns, true},
    {"load_of_others", &MachineState::load_of_others, false},
}};

std::string figure(double value, bool is_time) {
    // A tenth of a nanosecond and a thousandth of a CPU: finer is not known.
    const double scale = is_time ? 10 : 1000;
    return number_text(std::round(value * scale) / scale);
}

bool moved(double before, double after, bool is_time) {
    if (!is_time) return std::abs(after - before) > kMaterialLoad;
    return after > before * kMaterialFactor || before > after * kMaterialFactor;
}

}  // namespace

std::map<std::string, std::string> machine_environment(const MachineState& state,
                                                       const std::string& suffix) {
    std::map<std::string, std::string> environment;
    for (const Quantity& quantity : kQuantities) {
        const auto value = state.*quantity.value;
        environment["machine." + std::string(quantity.name) + suffix] =
            value ? figure(*value, quantity.is_time) : "unavailable";
    }
    return environment;
}

std::vector<TargetWarning> machine_moves(const MachineState& before, const MachineState& after) {
    std::vector<TargetWarning> warnings;
    for (const Quantity& quantity : kQuantities) {
        const auto first = before.*quantity.value;
        const auto last = after.*quantity.value;
        if (!first || !last || !moved(*first, *last, quantity.is_time)) continue;
        std::string code = "machine-moved-" + std::string(quantity.name);
        for (char& c : code)
            c = c == '_' ? '-' : c;
        warnings.push_back({code, "the machine changed during the run: machine." +
                                      std::string(quantity.name) + " was " +
                                      figure(*first, quantity.is_time) + " before and " +
                                      figure(*last, quantity.is_time) + " after it"});
    }
    return warnings;
}

}  // namespace vsb::harness
