#include "engine/trial/parameters.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace vsb::engine::trial {
namespace {

template <class Named>
const Named* find(const std::vector<Named>& all, std::string_view name) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Named& each) { return each.name == name; });
    return found == all.end() ? nullptr : &*found;
}

template <class Named>
[[noreturn]] void unknown(const SystemInfo& info, const std::string& what, const std::string& name,
                          const std::vector<Named>& all) {
    std::string text = info.name + " has no " + what + " '" + name + "' (it has ";
    for (const Named& each : all)
        text += (&each == all.data() ? "" : ", ") + each.name;
    throw std::invalid_argument(text + ")");
}

}  // namespace

void check(const SystemInfo& info, const State& state) {
    if (state.system != info.name) {
        throw std::invalid_argument("system '" + state.system + "' is not " + info.name);
    }
    if (find(info.policies, state.policy) == nullptr) {
        unknown(info, "policy", state.policy, info.policies);
    }
    for (const auto& given : state.parameters) {
        const ParameterInfo* const known = find(info.parameters, given.first);
        if (known == nullptr) unknown(info, "parameter", given.first, info.parameters);
        if (given.second < known->low || given.second > known->high) {
            throw std::invalid_argument(given.first + "=" + std::to_string(given.second) +
                                        " is out of range (" + std::to_string(known->low) + " to " +
                                        std::to_string(known->high) + ")");
        }
        const auto times =
            std::count_if(state.parameters.begin(), state.parameters.end(),
                          [&](const auto& other) { return other.first == given.first; });
        if (times > 1) throw std::invalid_argument(given.first + " is given twice");
    }
}

std::uint64_t value_of(const SystemInfo& info, const State& state, std::string_view name) {
    for (const auto& given : state.parameters) {
        if (given.first == name) return given.second;
    }
    const ParameterInfo* const known = find(info.parameters, name);
    if (known == nullptr) unknown(info, "parameter", std::string(name), info.parameters);
    return known->default_value;
}

void check(const SystemInfo& info, const Workload& workload, std::uint64_t longest) {
    if (workload.kind != Kind::throughput) {
        throw std::invalid_argument(info.name +
                                    " measures throughput only: nothing is sent back (leave rtt "
                                    "workloads to virtio-vsock-rx)");
    }
    if (workload.writes == 0) throw std::invalid_argument("writes=0: there is nothing to send");
    if (workload.payload_bytes == 0 || workload.payload_bytes > longest) {
        throw std::invalid_argument("payload " + std::to_string(workload.payload_bytes) +
                                    " B is out of range for " + info.name + " (1 to " +
                                    std::to_string(longest) + ")");
    }
}

}  // namespace vsb::engine::trial
