#include "engine/vsock/trial.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/sync/clock.h"
#include "engine/sync/crew.h"
#include "engine/sync/placement.h"
#include "engine/vsock/machine.h"

namespace vsb::engine {
namespace {

pid_t this_tid() {
    return static_cast<pid_t>(::syscall(SYS_gettid));
}

void call(const std::function<void(pid_t)>& hook) {
    if (hook) hook(this_tid());
}

struct Threads {
    explicit Threads(std::size_t flows) : receivers(flows) {}
    Current worker;
    std::vector<Current> receivers;  // one a flow
    Current device;
};

std::vector<int> pinned_cpus(const Placement& placement) {
    std::set<int> cpus;
    for (const auto& cpu : {placement.receiver_cpu, placement.worker_cpu, placement.device_cpu})
        if (cpu) cpus.insert(*cpu);
    return {cpus.begin(), cpus.end()};
}

std::vector<Warning> placement_warnings(const Placement& placement, std::size_t flows) {
    std::vector<Warning> warnings;
    const std::size_t threads = flows + (placement.device_cpu ? 2 : 1);
    const auto allowed = allowed_cpus();
    if (!is_virtual() && allowed.size() < threads)
        warnings.push_back({"too_few_cpus", std::to_string(threads) + " threads on " +
                                                std::to_string(allowed.size()) +
                                                " CPU(s): they take turns, and what is measured "
                                                "is the scheduler"});
    const std::size_t asked = static_cast<std::size_t>(placement.receiver_cpu.has_value()) +
                              static_cast<std::size_t>(placement.worker_cpu.has_value()) +
                              static_cast<std::size_t>(placement.device_cpu.has_value());
    if (pinned_cpus(placement).size() < asked)
        warnings.push_back({"cpus_shared", "two threads are pinned to the same CPU"});
    if (flows > 1 && placement.receiver_cpu)
        warnings.push_back({"receivers_share_cpu", std::to_string(flows) + " receivers share CPU " +
                                                       std::to_string(*placement.receiver_cpu) +
                                                       " and take turns on it"});
    if (placement.device_cpu && placement.device_cpu == placement.receiver_cpu)
        warnings.push_back({"device_on_receiver_cpu",
                            "the device side shares the receiver's CPU, which hides gains"});
    if (placement.idle_poll)
        warnings.push_back(
            {"idle_poll",
             "idle-priority spinners kept the CPUs awake: wakes cost less than usual"});
    return warnings;
}

std::vector<Count> collect_counts(const Threads& threads) {
    std::vector<Count> counts;
    for (const CounterInfo& info : counter_table()) {
        std::uint64_t value = 0;
        if (info.where != Counted::by_receiver) value += threads.worker.counts.*info.member;
        for (const Current& receiver : threads.receivers)
            if (info.where != Counted::by_worker) value += receiver.counts.*info.member;
        if (info.where == Counted::everywhere) value += threads.device.counts.*info.member;
        counts.push_back({std::string(info.name), value});
    }
    for (std::size_t i = 0; i < kBatchEnds; ++i)
        counts.push_back(
            {"batch_end_" + std::string(kBatchEndNames[i]), threads.worker.counts.batch_ends[i]});
    return counts;
}

std::string progress(Machine& machine, std::uint64_t total) {
    std::uint64_t received = 0;
    for (std::size_t flow = 0; flow < machine.flows(); ++flow)
        received += machine.guest(flow).received_bytes();
    std::string text = std::to_string(received) + " of " + std::to_string(total) +
                       " bytes had arrived, " + std::to_string(machine.device().bytes_sent()) +
                       " had been sent";
    if (machine.device().out_of_credit()) text += ", the sender was out of credit";
    if (machine.device().out_of_buffers()) text += ", the device was out of RX buffers";
    return text;
}

// What is wrong with a run whose threads all ended by themselves. Empty: nothing.
std::string verify(Machine& machine, const std::vector<GuestProgram::Plan>& plans,
                   std::uint64_t total) {
    for (std::size_t flow = 0; flow < plans.size(); ++flow) {
        GuestProgram& guest = machine.guest(flow);
        const std::string of_flow = plans.size() == 1 ? "" : "flow " + std::to_string(flow) + ": ";
        if (!guest.matches())
            return of_flow +
                   "received bytes differ from those sent, within the recv() that began at byte " +
                   std::to_string(guest.mismatch_at());
        if (machine.socket(flow).reset)
            return of_flow + "the connection was reset: " + progress(machine, total);
        if (guest.received_bytes() != plans[flow].total_bytes)
            return of_flow + "bytes were lost: " + progress(machine, total);
        if (!guest.ended()) return of_flow + "the receiver saw no end of the stream";
    }
    if (machine.device().broken()) return "a connection was reset: " + progress(machine, total);
    if (machine.device().bytes_sent() != total)
        return "bytes were lost: " + progress(machine, total);
    return {};
}

// The first flow's stream begins where the pattern does, every other one elsewhere: a packet that
// went to the wrong socket does not match there.
std::uint64_t pattern_start(std::size_t flow) {
    return flow * 4099;
}

// What each guest's program is to receive.
std::vector<GuestProgram::Plan> plans_of(const Workload& workload, std::uint64_t writes,
                                         std::size_t flows) {
    std::vector<GuestProgram::Plan> plans(flows);
    for (std::size_t flow = 0; flow < flows; ++flow) {
        const std::uint64_t share = writes / flows + (flow < writes % flows ? 1 : 0);
        plans[flow].total_bytes = share * workload.payload_bytes;
        plans[flow].echo_bytes = workload.kind == Kind::rtt ? workload.payload_bytes : 0;
        plans[flow].recv_bytes = static_cast<std::uint32_t>(workload.recv_bytes);
        plans[flow].pattern_start = pattern_start(flow);
    }
    return plans;
}

// First recv() to the last end of a stream, and the moment the last byte of all was there.
struct Times {
    std::uint64_t first_recv_ns = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t last_byte_ns = 0;
    std::uint64_t end_ns = 0;
};

Times times_of(Machine& machine) {
    Times times;
    for (std::size_t flow = 0; flow < machine.flows(); ++flow) {
        const GuestProgram& guest = machine.guest(flow);
        times.first_recv_ns = std::min(times.first_recv_ns, guest.first_recv_ns());
        times.last_byte_ns = std::max(times.last_byte_ns, guest.last_byte_ns());
        times.end_ns = std::max(times.end_ns, guest.end_ns());
    }
    return times;
}

}  // namespace

Outcome run_vsock_rx(const State& state, const Workload& workload, const Placement& placement,
                     std::uint64_t deadline_ns, const Hooks& hooks,
                     const std::function<bool()>& stop) {
    const std::uint64_t started_ns = real_now_ns();
    const std::uint64_t give_up_ns =
        deadline_ns > std::numeric_limits<std::uint64_t>::max() - started_ns
            ? std::numeric_limits<std::uint64_t>::max()
            : started_ns + deadline_ns;
    const VsockRxParameters parameters = parse_vsock_rx_state(state);
    check_vsock_rx_workload(parameters, workload);
    const PolicyEntry* policy = find_policy(state.policy);
    if (policy == nullptr)
        throw std::invalid_argument("virtio-vsock-rx: there is no policy '" + state.policy + "'");

    const bool rtt = workload.kind == Kind::rtt;
    const std::uint64_t writes = workload.writes + (rtt ? workload.warmup_requests : 0);
    const std::uint64_t total = workload.payload_bytes * writes;
    const Pattern pattern(workload.seed);
    const std::size_t flows = parameters.flows;
    const std::vector<GuestProgram::Plan> plans = plans_of(workload, writes, flows);
    std::deque<Sender> senders;
    PingPong ping_pong(pattern, workload.payload_bytes, workload.warmup_requests,
                       rtt ? workload.writes : 0);
    std::vector<HostProgram*> programs;
    for (std::size_t flow = 0; flow < flows; ++flow) {
        const std::uint64_t share = plans[flow].total_bytes / workload.payload_bytes;
        senders.emplace_back(pattern, workload.payload_bytes, rtt ? 0 : share, pattern_start(flow));
        programs.push_back(rtt ? static_cast<HostProgram*>(&ping_pong) : &senders.back());
    }

    Outcome outcome;
    outcome.warnings = placement_warnings(placement, flows);
    if (rtt) outcome.clock_cost_ns = measure_clock_cost_ns();

    // A reply always fits the host's credit, so that the noop policy can send it from the worker.
    const auto host_buf_alloc = static_cast<std::uint32_t>(
        std::max<std::uint64_t>(Device::kBufAlloc, workload.payload_bytes));
    Machine machine(parameters, *policy, programs, pattern, plans, host_buf_alloc,
                    placement.device_cpu.has_value());

    std::optional<IdlePollers> pollers;
    if (placement.idle_poll) {
        const auto pinned = pinned_cpus(placement);
        pollers.emplace(pinned.empty() ? allowed_cpus() : pinned);
        if (const std::string failure = pollers->failure(); !failure.empty()) {
            outcome.failure = "idle polling: " + failure;
            return outcome;
        }
    }

    auto threads = std::make_unique<Threads>(flows);
    threads->worker.owns_buffers = true;
    std::vector<Crew::Member> members;
    for (std::size_t flow = 0; flow < flows; ++flow)
        members.push_back(
            {"receiver", placement.receiver_cpu, &threads->receivers[flow].task, [&, flow] {
                 call(hooks.receiver_starts);
                 machine.guest(flow).run(threads->receivers[flow]);
                 call(hooks.receiver_ends);
             }});
    members.push_back({"worker", placement.worker_cpu, &threads->worker.task, [&] {
                           call(hooks.worker_starts);
                           machine.run_worker(threads->worker);
                           call(hooks.worker_ends);
                       }});
    if (placement.device_cpu)
        members.push_back({"device", placement.device_cpu, &threads->device.task,
                           [&] { machine.run_device(threads->device); }});
    const Crew::Result crew = Crew::run(members, give_up_ns, stop);
    pollers.reset();

    if (crew.end == Crew::End::stopped)
        outcome.failure = "interrupted";
    else if (!crew.failure.empty())
        outcome.failure = crew.failure;
    else if (crew.end == Crew::End::deadline)
        outcome.failure = "deadline exceeded: " + progress(machine, total);
    else
        outcome.failure = verify(machine, plans, total);
    if (outcome.failure.empty() && rtt && !ping_pong.echo_matches())
        outcome.failure = "an echo differs from its request";
    if (outcome.failure.empty() &&
        std::ranges::any_of(senders, [](const Sender& s) { return s.unexpected_bytes() != 0; }))
        outcome.failure = "the receiver sent bytes in a throughput run";

    outcome.bytes_sent = machine.device().bytes_sent();
    for (std::size_t flow = 0; flow < flows; ++flow)
        outcome.bytes_received += machine.guest(flow).received_bytes();
    outcome.counts = collect_counts(*threads);
    outcome.batch_sizes = machine.policy().batch_sizes();
    if (outcome.failure.empty()) {
        const Times times = times_of(machine);
        const std::uint64_t first_packet_ns = machine.device().first_packet_ns();
        outcome.first_to_last_ns = times.last_byte_ns - first_packet_ns;
        // All threads are let go at once: the worker may be ahead of every receiver's first recv().
        outcome.whole_ns = times.end_ns - std::min(times.first_recv_ns, first_packet_ns);
        outcome.device_ns = machine.inline_device_ns();
        if (rtt) outcome.rtt_ns = std::move(ping_pong.samples_ns());
    }
    if (threads->worker.counts.refill_failures != 0)
        outcome.warnings.push_back(
            {"rx_buffers_exhausted", "the RX ring could not be refilled in full " +
                                         std::to_string(threads->worker.counts.refill_failures) +
                                         " time(s): the buffer pool was empty"});
    if (parameters.kick_cost_ns != 0 || parameters.irq_cost_ns != 0)
        outcome.warnings.push_back(
            {"injected_cost", "kick-cost-ns=" + std::to_string(parameters.kick_cost_ns) +
                                  ", irq-cost-ns=" + std::to_string(parameters.irq_cost_ns) +
                                  ": a change that needs them is not a result"});
    return outcome;
}

}  // namespace vsb::engine
