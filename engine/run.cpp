#include "engine/run.h"

#include <algorithm>
#include <stdexcept>

#include "engine/dgram_sendmsg/system.h"
#include "engine/vhost_net_rx/system.h"
#include "engine/vhost_vsock_used/system.h"
#include "engine/virtual/schedule.h"
#include "engine/vsock/parameters.h"
#include "engine/vsock/policy.h"
#include "engine/vsock/trial.h"

namespace vsb::engine {
namespace {

// A system behind the contract. To add one, add an entry.
struct Entry {
    SystemInfo info;
    void (*check_state)(const State&);
    void (*check_workload)(const State&, const Workload&);  // the state as well
    Outcome (*run)(const State&, const Workload&, const Placement&, std::uint64_t, const Hooks&,
                   const std::function<bool()>&);
};

Entry vsock_rx() {
    Entry entry;
    entry.info.name = "virtio-vsock-rx";
    for (const auto& policy : policy_table())
        entry.info.policies.push_back({std::string(policy.name), std::string(policy.summary)});
    entry.info.parameters = vsock_rx_parameters();
    entry.info.default_a = "per-packet";
    entry.info.default_b = "deferred-notify";
    entry.check_state = [](const State& state) { parse_vsock_rx_state(state); };
    entry.check_workload = [](const State& state, const Workload& workload) {
        check_vsock_rx_workload(parse_vsock_rx_state(state), workload);
    };
    entry.run = &run_vsock_rx;
    return entry;
}

const std::vector<Entry>& entries() {
    static const std::vector<Entry> all{vsock_rx(),
                                        {vhost_vsock_used::info(), &vhost_vsock_used::check,
                                         &vhost_vsock_used::check, &vhost_vsock_used::run_trial},
                                        {vhost_net_rx::info(), &vhost_net_rx::check,
                                         &vhost_net_rx::check, &vhost_net_rx::run_trial},
                                        {dgram_sendmsg::info(), &dgram_sendmsg::check,
                                         &dgram_sendmsg::check, &dgram_sendmsg::run_trial}};
    return all;
}

template <class Items, class Name>
std::string list(const Items& items, Name name) {
    std::string text;
    for (const auto& item : items)
        text += (text.empty() ? "" : ", ") + name(item);
    return text;
}

const Entry& find_entry(std::string_view name) {
    for (const auto& entry : entries())
        if (entry.info.name == name) return entry;
    throw std::invalid_argument("there is no engine system '" + std::string(name) +
                                "' (there are " +
                                list(entries(), [](const Entry& e) { return e.info.name; }) + ")");
}

std::string model_text(const VirtualMachine& machine) {
    return "a model, not a measurement: virtual clock, " + std::to_string(machine.cpus) +
           " virtual CPU(s); time is the sum of named costs: order may carry over to a machine, "
           "magnitudes do not";
}

}  // namespace

const std::vector<SystemInfo>& systems() {
    static const std::vector<SystemInfo> infos = [] {
        std::vector<SystemInfo> all;
        for (const auto& entry : entries())
            all.push_back(entry.info);
        return all;
    }();
    return infos;
}

const SystemInfo& find_system(std::string_view name) {
    return find_entry(name).info;
}

void validate(const State& state) {
    const Entry& entry = find_entry(state.system);
    if (state.virtual_machine) check_virtual_machine(*state.virtual_machine);
    const auto& policies = entry.info.policies;
    if (std::none_of(policies.begin(), policies.end(),
                     [&](const PolicyInfo& p) { return p.name == state.policy; }))
        throw std::invalid_argument(
            state.system + ": there is no policy '" + state.policy + "' (there are " +
            list(policies, [](const PolicyInfo& p) { return p.name; }) + ")");
    entry.check_state(state);
}

void validate(const State& state, const Workload& workload) {
    validate(state);
    find_entry(state.system).check_workload(state, workload);
}

Outcome run(const State& state, const Workload& workload, const Placement& placement,
            std::uint64_t deadline_ns, const Hooks& hooks, const std::function<bool()>& stop) {
    validate(state);
    const Entry& entry = find_entry(state.system);
    if (!state.virtual_machine)
        return entry.run(state, workload, placement, deadline_ns, hooks, stop);
    if (placement.idle_poll)
        throw std::invalid_argument(
            "idle polling keeps real CPUs awake: the virtual clock has none");
    Schedule schedule(*state.virtual_machine);
    const UnderSchedule under(schedule);
    Outcome outcome = entry.run(state, workload, placement, deadline_ns, hooks, stop);
    outcome.warnings.push_back({"model", model_text(*state.virtual_machine)});
    return outcome;
}

}  // namespace vsb::engine
