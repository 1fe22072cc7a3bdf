#include "harness/engine_state.h"

#include <algorithm>
#include <stdexcept>

#include "harness/state_spec.h"
#include "transport/size.h"

namespace vsb::harness {

engine::State parse_engine_state(std::string_view text, bool is_a) {
    const StateSpec spec = parse_state_spec(text);
    engine::State state;
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

}  // namespace vsb::harness
