#include "engine/vhost_net_rx/system.h"

#include <algorithm>
#include <string>

#include "engine/trial/parameters.h"
#include "engine/trial/trial.h"
#include "engine/vhost_net_rx/dequeue.h"
#include "engine/vhost_net_rx/producer.h"
#include "engine/vhost_net_rx/worker.h"

namespace vsb::engine::vhost_net_rx {
namespace {

constexpr std::uint64_t kLongest = 65536;
constexpr std::uint64_t kMostBatch = 256;

std::unique_ptr<Dequeue> make(const std::string& policy, PtrRing<Packet>& ring, std::size_t batch) {
    if (policy == "per-skb") return make_per_skb(ring);
    if (policy == "batch") return make_batch(ring, batch);
    return make_noop(ring);
}

void warn_if_starved(const WorkerCounts& worker, std::vector<Warning>& warnings) {
    if (worker.delivered == 0 || worker.empty_polls * 10 < worker.delivered) return;
    const double polls =
        static_cast<double>(worker.empty_polls) / static_cast<double>(worker.delivered);
    warnings.push_back({"consumer-starved",
                        "the worker found the ring empty " + std::to_string(polls).substr(0, 5) +
                            " times a packet (below 0.1 it sets the rate itself): the producer did "
                            "not outrun it, and the rate says little about the dequeue"});
}

}  // namespace

const SystemInfo& info() {
    static const SystemInfo system{
        "vhost-net-rx",
        {{"per-skb", "peek the head's length under the consumer lock, then consume under it again"},
         {"batch", "consume up to `batch` packets under one lock, serve from a local array"},
         {"noop", "no lock: the floor"}},
        {{"batch", "packets consumed under one lock (VHOST_NET_BATCH)", 64, 1, kMostBatch, "1"},
         {"ring-size", "slots of the pointer ring (TUN_READQ_SIZE)", 500, 2, 4096, "1"},
         {"busy-poll", "empty looks before the worker sleeps", 0, 0, 1'000'000, "1"}},
        "per-skb",
        "batch"};
    return system;
}

void check(const State& state) {
    trial::check(info(), state);
}

void check(const State& state, const Workload& workload) {
    check(state);
    trial::check(info(), workload, kLongest);
}

Outcome run_trial(const State& state, const Workload& workload, const Placement& placement,
                  std::uint64_t deadline_ns, const Hooks& hooks,
                  const std::function<bool()>& stop) {
    check(state, workload);
    const auto ring_size = static_cast<std::size_t>(trial::value_of(info(), state, "ring-size"));
    const auto batch = static_cast<std::size_t>(trial::value_of(info(), state, "batch"));
    const std::uint64_t busy_polls = trial::value_of(info(), state, "busy-poll");
    const auto length = static_cast<std::uint32_t>(workload.payload_bytes);

    const trial::Pattern pattern(workload.seed, length);
    PtrRing<Packet> ring(ring_size);
    // In the ring, in the local array, in each side's hand, and as many again as the largest batch:
    // both states have the same memory, and neither side waits for the other's list.
    PacketPool pool(ring_size + 2 * kMostBatch + 2, length);
    const auto dequeue = make(state.policy, ring, batch);
    WaitQueue queue;

    Outcome outcome;
    ProducerCounts produced;
    WorkerCounts worker;
    trial::Trial trial(deadline_ns, stop);
    trial.add(
        {"worker", placement.worker_cpu, hooks.worker_starts, hooks.worker_ends, [&](Task& task) {
             worker = drain(*dequeue, pool, pattern, workload.writes, length, busy_polls, queue,
                            task, trial);
         }});
    trial.add({"producer",
               placement.device_cpu ? placement.device_cpu : placement.receiver_cpu,
               {},
               {},
               [&](Task&) {
                   produced = produce(ring, pool, pattern, workload.writes, length, queue, trial);
               }});
    trial.run(placement.idle_poll, outcome.warnings);

    const trial::LockCounts consumer_locks = ring.consumer_counts();
    const trial::LockCounts producer_locks = ring.producer_counts();
    const auto free = [&](Packet* packet) { pool.put(packet); };
    const Dequeue::Left left = dequeue->stop(free);
    const std::uint64_t freed = left.freed + ring.cleanup(free);
    outcome.failure = trial.failure();
    if (outcome.failure.empty() && (pool.outstanding() != 0 || freed != 0)) {
        outcome.failure = std::to_string(pool.outstanding()) + " packets were lost and " +
                          std::to_string(freed) + " left over";
    }
    outcome.bytes_sent = produced.produced * length;
    outcome.bytes_received = worker.bytes;
    outcome.units = worker.delivered;
    outcome.first_to_last_ns = worker.delivered > 0 ? worker.last_ns - worker.first_ns : 0;
    outcome.whole_ns = outcome.first_to_last_ns;
    outcome.batch_sizes = dequeue->batch_sizes();
    std::uint64_t consumptions = 0;
    for (const std::uint64_t times : outcome.batch_sizes)
        consumptions += times;
    outcome.counts = {{"packets_produced", produced.produced},
                      {"packets_delivered", worker.delivered},
                      {"consumptions", consumptions},
                      {"consumptions_short", dequeue->refills_short()},
                      {"consumer_locks", consumer_locks.acquisitions},
                      {"consumer_locks_contended", consumer_locks.contended},
                      {"producer_locks", producer_locks.acquisitions},
                      {"producer_locks_contended", producer_locks.contended},
                      {"producer_full_polls", produced.full_polls},
                      {"empty_polls", worker.empty_polls},
                      {"sleeps", worker.sleeps},
                      {"wakeups", produced.wakeups},
                      {"signals", worker.signals},
                      {"put_back_at_stop", left.put_back},
                      {"freed_at_stop", freed},
                      {"outstanding", pool.outstanding()}};
    warn_if_starved(worker, outcome.warnings);
    return outcome;
}

}  // namespace vsb::engine::vhost_net_rx
