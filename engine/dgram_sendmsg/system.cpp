#include "engine/dgram_sendmsg/system.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/dgram_sendmsg/receiver.h"
#include "engine/dgram_sendmsg/send.h"
#include "engine/trial/parameters.h"
#include "engine/trial/trial.h"

namespace vsb::engine::dgram_sendmsg {
namespace {

constexpr std::uint64_t kLongest = 65536;  // VIRTIO_VSOCK_MAX_PKT_BUF_SIZE

std::unique_ptr<Send> make(const std::string& policy, const Remote& remote, Ports& ports,
                           std::size_t senders) {
    if (policy == "socket-lock") return make_socket_lock(remote, ports);
    if (policy == "lockless") return make_lockless(remote, ports, senders);
    return make_noop(remote, ports);
}

// Everything the threads of one trial share.
struct Shared {
    Shared(const State& state, const Workload& workload, std::size_t threads, std::uint64_t sndbuf,
           std::uint64_t reconnects)
        : pattern(workload.seed, workload.payload_bytes),
          buffer(sndbuf),
          transports{Transport(0, buffer, queue), Transport(1, buffer, queue)},
          socket(make(state.policy, remote(0), ports, threads)),
          senders(threads) {
        for (std::size_t i = 0; i < threads; ++i) {
            expected.datagrams.push_back(workload.writes / threads +
                                         (i < workload.writes % threads ? 1 : 0));
        }
        expected.length = static_cast<std::uint32_t>(workload.payload_bytes);
        expected.from = {kCidLocal, kLastReservedPort + 1};
        expected.destinations = reconnects + 1;
    }

    Remote remote(std::uint64_t n) const noexcept {
        return {address_of(n), &transports[transport_of(n)]};
    }

    const trial::Pattern pattern;
    ReceiveQueue queue;
    SendBuffer buffer;
    const Transport transports[2];
    Ports ports;
    const std::unique_ptr<Send> socket;
    Expected expected;
    std::vector<Current> senders;
    Current receiver;
    Current connector;
    Received received;
};

void send_all(Shared& shared, std::size_t sender, const trial::Trial& trial) noexcept {
    const auto number = static_cast<std::uint32_t>(sender);
    for (std::uint64_t n = 0; n < shared.expected.datagrams[sender] && !trial.ended(); ++n) {
        const std::byte* const bytes = shared.pattern.of(content_of(number, n));
        spend(Cost::system_call);
        const Message message{number, n, {bytes, shared.expected.length}};
        if (!shared.socket->send(message, shared.senders[sender])) return;
    }
}

void reconnect_all(Shared& shared, const trial::Trial& trial) {
    for (std::uint64_t n = 1; n < shared.expected.destinations && !trial.ended(); ++n) {
        if (!shared.socket->connect(shared.remote(n), shared.connector) && !trial.ended()) {
            throw std::runtime_error("the destination could not be replaced");
        }
    }
}

std::vector<Count> counts_of(Shared& shared) {
    Counters sent;
    for (const Current& sender : shared.senders) {
        sent.packets += sender.counts.packets;
        sent.payload_bytes += sender.counts.payload_bytes;
        sent.lock_acquisitions += sender.counts.lock_acquisitions;
        sent.lock_contended += sender.counts.lock_contended;
        sent.data_ready_notifications += sender.counts.data_ready_notifications;
        sent.wakeups += sender.counts.wakeups;
        sent.wake_system_calls += sender.counts.wake_system_calls;
        sent.sleeps += sender.counts.sleeps;
    }
    const Counters& received = shared.receiver.counts;
    const Counters& connected = shared.connector.counts;
    const SendCounts socket = shared.socket->counts();
    return {{"datagrams_sent", sent.packets},
            {"datagrams_received", shared.received.total},
            {"socket_locks", sent.lock_acquisitions},
            {"socket_locks_contended", sent.lock_contended},
            {"connect_locks", connected.lock_acquisitions},
            {"auto_binds", socket.auto_binds},
            {"records_replaced", socket.records_replaced},
            {"records_freed", socket.records_freed},
            {"records_waiting_most", socket.most_records_waiting},
            {"queue_locks", shared.queue.lock_counts().acquisitions},
            {"queue_locks_contended", shared.queue.lock_counts().contended},
            {"queue_takes", shared.received.takes},
            {"data_ready_notifications", sent.data_ready_notifications},
            {"write_space_notifications", received.write_space_notifications},
            {"sender_sleeps", sent.sleeps},
            {"connector_sleeps", connected.sleeps},
            {"receiver_sleeps", received.sleeps},
            {"wakeups", sent.wakeups + received.wakeups + connected.wakeups},
            {"wake_system_calls",
             sent.wake_system_calls + received.wake_system_calls + connected.wake_system_calls}};
}

}  // namespace

const SystemInfo& info() {
    static const SystemInfo system{
        "dgram-sendmsg",
        {{"socket-lock", "every send holds the socket lock to its end"},
         {"lockless", "bound once; address and transport in one record read without a lock"},
         {"noop", "no lock and no look-up: the floor"}},
        {{"threads", "senders on the one socket", 16, 1, 64, "1"},
         {"sndbuf", "send buffer of the socket (net.core.wmem_default)", 212'992, 1, 1U << 30, "B"},
         {"reconnects", "times the destination is replaced meanwhile", 0, 0, 10'000'000, "1"}},
        "socket-lock",
        "lockless"};
    return system;
}

void check(const State& state) {
    trial::check(info(), state);
    const std::uint64_t reconnects = trial::value_of(info(), state, "reconnects");
    if (reconnects > 0 && state.policy == "noop") {
        throw std::invalid_argument(
            "reconnects=" + std::to_string(reconnects) +
            " with policy noop: its destination is fixed (use socket-lock or lockless)");
    }
}

void check(const State& state, const Workload& workload) {
    check(state);
    trial::check(info(), workload, kLongest);
}

Outcome run_trial(const State& state, const Workload& workload, const Placement& placement,
                  std::uint64_t deadline_ns, const Hooks& hooks,
                  const std::function<bool()>& stop) {
    check(state, workload);
    const auto threads = static_cast<std::size_t>(trial::value_of(info(), state, "threads"));
    const std::uint64_t reconnects = trial::value_of(info(), state, "reconnects");
    Shared shared(state, workload, threads, trial::value_of(info(), state, "sndbuf"), reconnects);

    Outcome outcome;
    trial::Trial trial(deadline_ns, stop);
    trial.add({"receiver", placement.receiver_cpu, hooks.receiver_starts, hooks.receiver_ends,
               [&](Task&) {
                   shared.received = receive(shared.queue, shared.buffer, shared.expected,
                                             shared.pattern, shared.receiver, trial);
               },
               &shared.receiver.task});
    for (std::size_t i = 0; i < threads; ++i) {
        trial.add({"sender",
                   threads == 1 ? placement.worker_cpu : std::nullopt,
                   {},
                   {},
                   [&, i](Task&) { send_all(shared, i, trial); },
                   &shared.senders[i].task});
    }
    if (reconnects > 0) {
        trial.add({"connector",
                   {},
                   {},
                   {},
                   [&](Task&) { reconnect_all(shared, trial); },
                   &shared.connector.task});
    }
    if (threads > 1 && placement.worker_cpu) {
        outcome.warnings.push_back(
            {"senders-unpinned", std::to_string(threads) + " senders ran on any CPU, not on CPU " +
                                     std::to_string(*placement.worker_cpu) +
                                     " alone, where they could not contend"});
    }
    trial.run(placement.idle_poll, outcome.warnings);

    outcome.failure = trial.failure();
    outcome.counts = counts_of(shared);
    outcome.bytes_sent = outcome.counts.front().value * workload.payload_bytes;
    outcome.bytes_received = shared.received.bytes;
    outcome.units = shared.received.total;
    if (shared.received.total > 0) {
        outcome.first_to_last_ns = shared.received.last_ns - shared.received.first_ns;
        outcome.whole_ns = outcome.first_to_last_ns;
    }
    if (outcome.failure.empty() && shared.buffer.charged() != 0) {
        outcome.failure = std::to_string(shared.buffer.charged()) + " bytes of the send buffer " +
                          "were never given back";
    }
    return outcome;
}

}  // namespace vsb::engine::dgram_sendmsg
