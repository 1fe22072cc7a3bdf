#include "engine/vsock/trial.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <stdexcept>

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
    Current worker;
    Current receiver;
    Current device;
};

std::vector<int> pinned_cpus(const Placement& placement) {
    std::set<int> cpus;
    for (const auto& cpu : {placement.receiver_cpu, placement.worker_cpu, placement.device_cpu})
        if (cpu) cpus.insert(*cpu);
    return {cpus.begin(), cpus.end()};
}

std::vector<Warning> placement_warnings(const Placement& placement) {
    std::vector<Warning> warnings;
    const std::size_t threads = placement.device_cpu ? 3 : 2;
    const auto allowed = allowed_cpus();
    if (allowed.size() < threads)
        warnings.push_back({"too_few_cpus", std::to_string(threads) + " threads on " +
                                                std::to_string(allowed.size()) +
                                                " CPU(s): they take turns, and what is measured "
                                                "is the scheduler"});
    const std::size_t asked = static_cast<std::size_t>(placement.receiver_cpu.has_value()) +
                              static_cast<std::size_t>(placement.worker_cpu.has_value()) +
                              static_cast<std::size_t>(placement.device_cpu.has_value());
    if (pinned_cpus(placement).size() < asked)
        warnings.push_back({"cpus_shared", "two threads are pinned to the same CPU"});
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
        if (info.where != Counted::by_worker) value += threads.receiver.counts.*info.member;
        if (info.where == Counted::everywhere) value += threads.device.counts.*info.member;
        counts.push_back({std::string(info.name), value});
    }
    for (std::size_t i = 0; i < kBatchEnds; ++i)
        counts.push_back(
            {"batch_end_" + std::string(kBatchEndNames[i]), threads.worker.counts.batch_ends[i]});
    return counts;
}

std::string progress(Machine& machine, std::uint64_t total) {
    std::string text = std::to_string(machine.guest().received_bytes()) + " of " +
                       std::to_string(total) + " bytes had arrived, " +
                       std::to_string(machine.device().bytes_sent()) + " had been sent";
    if (machine.device().out_of_credit()) text += ", the sender was out of credit";
    if (machine.device().out_of_buffers()) text += ", the device was out of RX buffers";
    return text;
}

// What is wrong with a run whose threads all ended by themselves. Empty: nothing.
std::string verify(Machine& machine, std::uint64_t total) {
    GuestProgram& guest = machine.guest();
    if (!guest.matches())
        return "received bytes differ from those sent, within the recv() that began at byte " +
               std::to_string(guest.mismatch_at());
    if (machine.device().broken() || machine.socket().reset)
        return "the connection was reset: " + progress(machine, total);
    if (machine.device().bytes_sent() != total || guest.received_bytes() != total)
        return "bytes were lost: " + progress(machine, total);
    if (!guest.ended()) return "the receiver saw no end of the stream";
    return {};
}

}  // namespace

Outcome run_vsock_rx(const State& state, const Workload& workload, const Placement& placement,
                     std::uint64_t deadline_ns, const Hooks& hooks,
                     const std::function<bool()>& stop) {
    const std::uint64_t started_ns = now_ns();
    const std::uint64_t give_up_ns =
        deadline_ns > std::numeric_limits<std::uint64_t>::max() - started_ns
            ? std::numeric_limits<std::uint64_t>::max()
            : started_ns + deadline_ns;
    const VsockRxParameters parameters = parse_vsock_rx(state.parameters);
    check_vsock_rx_workload(parameters, workload);
    const PolicyEntry* policy = find_policy(state.policy);
    if (policy == nullptr)
        throw std::invalid_argument("virtio-vsock-rx: there is no policy '" + state.policy + "'");

    const bool rtt = workload.kind == Kind::rtt;
    const std::uint64_t writes = workload.writes + (rtt ? workload.warmup_requests : 0);
    const std::uint64_t total = workload.payload_bytes * writes;
    const Pattern pattern(workload.seed);
    Sender sender(pattern, workload.payload_bytes, rtt ? 0 : writes);
    PingPong ping_pong(pattern, workload.payload_bytes, workload.warmup_requests,
                       rtt ? workload.writes : 0);
    HostProgram& program = rtt ? static_cast<HostProgram&>(ping_pong) : sender;

    Outcome outcome;
    outcome.warnings = placement_warnings(placement);
    if (rtt) outcome.clock_cost_ns = measure_clock_cost_ns();

    // A reply always fits the host's credit, so that the noop policy can send it from the worker.
    const auto host_buf_alloc = static_cast<std::uint32_t>(
        std::max<std::uint64_t>(Device::kBufAlloc, workload.payload_bytes));
    const GuestProgram::Plan plan{total, rtt ? workload.payload_bytes : 0,
                                  static_cast<std::uint32_t>(workload.recv_bytes)};
    Machine machine(parameters, *policy, program, pattern, plan, host_buf_alloc,
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

    auto threads = std::make_unique<Threads>();
    threads->worker.owns_buffers = true;
    std::vector<Crew::Member> members;
    members.push_back({"receiver", placement.receiver_cpu, &threads->receiver.task, [&] {
                           call(hooks.receiver_starts);
                           machine.guest().run(threads->receiver);
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
        outcome.failure = verify(machine, total);
    if (outcome.failure.empty() && rtt && !ping_pong.echo_matches())
        outcome.failure = "an echo differs from its request";
    if (outcome.failure.empty() && sender.unexpected_bytes() != 0)
        outcome.failure = "the receiver sent bytes in a throughput run";

    const GuestProgram& guest = machine.guest();
    outcome.bytes_sent = machine.device().bytes_sent();
    outcome.bytes_received = guest.received_bytes();
    outcome.counts = collect_counts(*threads);
    outcome.batch_sizes = machine.policy().batch_sizes();
    if (outcome.failure.empty()) {
        outcome.first_to_last_ns = guest.last_byte_ns() - machine.device().first_packet_ns();
        outcome.whole_ns = guest.end_ns() - guest.first_recv_ns();
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
