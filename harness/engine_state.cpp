#include "harness/engine_state.h"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>
#include <vector>

#include "harness/state_spec.h"
#include "transport/size.h"

namespace vsb::harness {

engine::State parse_engine_state(std::string_view text, bool is_a,
                                 const std::optional<engine::VirtualMachine>& machine) {
    const StateSpec spec = parse_state_spec(text);
    engine::State state;
    state.virtual_machine = machine;
    if (const std::string* system = spec.find("system")) state.system = *system;
    const engine::SystemInfo& info = engine::find_system(state.system);
    state.policy = is_a ? info.default_a : info.default_b;
    for (const auto& [key, value] : spec.items) {
        if (key == "system") continue;
        if (key == "policy") {
            state.policy = value;
            continue;
        }
        try {
            state.parameters.emplace_back(key, transport::parse_size(value));
        } catch (const std::invalid_argument& error) {
            throw std::invalid_argument("state '" + std::string(text) + "': " + key + ": " +
                                        error.what());
        }
    }
    engine::validate(state);
    return state;
}

namespace {

using Parameter = std::pair<std::string, std::uint64_t>;

const engine::ParameterInfo& info_of(const engine::SystemInfo& system, std::string_view name) {
    return *std::ranges::find(system.parameters, name, &engine::ParameterInfo::name);
}

// What must grow so that `max_pkts` packets can be in one ownership.
std::vector<Parameter> needed_for(const engine::State& state, std::uint64_t max_pkts,
                                  bool takes_it) {
    const engine::SystemInfo& system = engine::find_system(state.system);
    const auto value = [&](std::string_view name) {
        const auto set = std::ranges::find(state.parameters, name, &Parameter::first);
        return set != state.parameters.end() ? set->second : info_of(system, name).default_value;
    };
    std::vector<Parameter> needed;
    const auto grow = [&](const char* name, std::uint64_t to) {
        const engine::ParameterInfo& info = info_of(system, name);
        const bool is_set = std::ranges::find(state.parameters, info.name, &Parameter::first) !=
                            state.parameters.end();
        to = std::min(to, info.high);
        if (!is_set && to > info.default_value) needed.emplace_back(name, to);
    };
    grow("ring-size", std::bit_ceil(2 * max_pkts));
    if (takes_it) grow("max-bytes", max_pkts * value("rx-buf-bytes"));
    return needed;
}

// The state at the point, and what grew for it.
std::pair<engine::State, std::vector<Parameter>> grown_state(
    std::string_view spec, bool is_a, const Point& point,
    const std::optional<engine::VirtualMachine>& machine) {
    engine::State state = parse_engine_state(state_at_point(spec, point), is_a, machine);
    const auto at = std::ranges::find(point, "max-pkts", &Point::value_type::first);
    if (at == point.end() || state.system != "virtio-vsock-rx") return {state, {}};
    const bool takes_it = parse_state_spec(spec).find("max-pkts") == nullptr;
    std::vector<Parameter> grown = needed_for(state, transport::parse_size(at->second), takes_it);
    state.parameters.insert(state.parameters.end(), grown.begin(), grown.end());
    engine::validate(state);
    return {state, grown};
}

}  // namespace

engine::State engine_state_at(std::string_view spec, bool is_a, const Point& point,
                              const std::optional<engine::VirtualMachine>& machine) {
    return grown_state(spec, is_a, point, machine).first;
}

std::string grown_bounds_text(std::string_view spec, bool is_a, const std::vector<Axis>& axes,
                              const std::optional<engine::VirtualMachine>& machine) {
    std::string text;
    for (const Point& point : points_of(axes)) {
        const auto grown = grown_state(spec, is_a, point, machine).second;
        for (const auto& [name, value] : grown) {
            const bool first = &name == &grown.front().first;
            if (first) text += (text.empty() ? "" : "; ") + point_text(point);
            const bool bytes = name == "max-bytes";
            text += (first ? ": " : ", ") + name + "=" +
                    (bytes ? transport::format_size(value) : std::to_string(value));
        }
    }
    return text;
}

}  // namespace vsb::harness
