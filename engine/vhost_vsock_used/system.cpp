#include "engine/vhost_vsock_used/system.h"

#include <bit>
#include <memory>
#include <stdexcept>
#include <string>

#include "engine/trial/parameters.h"
#include "engine/trial/ring_memory.h"
#include "engine/trial/trial.h"
#include "engine/vhost_vsock_used/guest.h"
#include "engine/vhost_vsock_used/worker.h"
#include "engine/vsock/header.h"

namespace vsb::engine::vhost_vsock_used {
namespace {

constexpr std::uint64_t kLongest = 1U << 20;

struct Parameters {
    std::uint16_t ring_size = 0;
    std::size_t limit = 0;
    std::size_t buffer_bytes = 0;
    std::size_t burst = 0;
    bool event_idx = true;
    WorkerSetup worker;
};

Parameters parse(const State& state) {
    trial::check(info(), state);
    const auto value = [&](const char* name) { return trial::value_of(info(), state, name); };
    Parameters parsed;
    parsed.ring_size = static_cast<std::uint16_t>(value("ring-size"));
    if (!std::has_single_bit(parsed.ring_size)) {
        throw std::invalid_argument("ring-size=" + std::to_string(parsed.ring_size) +
                                    " is no power of two, as a split virtqueue's must be");
    }
    parsed.worker.packet_weight = value("pkt-weight");
    parsed.worker.byte_weight = value("byte-weight");
    parsed.worker.notifies = state.policy != "noop";
    parsed.limit = batch_limit(parsed.ring_size, value("iov-limit"), parsed.worker.packet_weight);
    parsed.buffer_bytes = value("rx-buf");
    parsed.burst = value("burst");
    parsed.event_idx = value("event-idx") != 0;
    return parsed;
}

std::unique_ptr<Publish> make(const std::string& policy, DeviceQueue& device,
                              const Parameters& parameters) {
    if (policy == "per-buffer") return make_per_buffer(device);
    if (policy == "batched") return make_batched(device, parameters.limit);
    return make_noop(device, parameters.ring_size);
}

std::vector<Count> counts_of(const SendQueue& queue, const WorkerCounts& worker,
                             const GuestCounts& guest, const PublishCounts& published) {
    std::vector<Count> counts{
        {"packets_sent", queue.packets()},
        {"used_entries", published.entries},
        {"publications", published.publications},
        {"worker_runs", worker.runs},
        {"runs_no_buffers", worker.runs_no_buffers},
        {"runs_queue_empty", worker.runs_queue_empty},
        {"signals", worker.signals},
        {"signals_suppressed", worker.signals_suppressed},
        {"worker_sleeps", worker.sleeps},
        {"buffers_received", guest.buffers},
        {"guest_runs", guest.runs},
        {"guest_sleeps", guest.sleeps},
        {"refills", guest.refills},
        {"kicks", guest.kicks},
        {"wake_system_calls", worker.wake_system_calls + guest.wake_system_calls}};
    for (std::size_t i = 0; i < kFlushes; ++i) {
        counts.push_back(
            {"flush_" + std::string(name(static_cast<Flush>(i))), published.flushes[i]});
    }
    return counts;
}

// The published sender, with 64 MiB of credit and a CPU of its own, is always ahead.
void warn_if_starved(const WorkerCounts& worker, std::vector<Warning>& warnings) {
    if (worker.runs_queue_empty * 10 <= worker.runs) return;
    warnings.push_back(
        {"worker-starved", "the worker found nothing more to send in " +
                               std::to_string(worker.runs_queue_empty) + " of " +
                               std::to_string(worker.runs) +
                               " runs: what its publications hold is the sender's choice, and late "
                               "ones keep a guest waiting that could work (make burst larger)"});
}

std::string progress(const GuestCounts& guest, const WorkerCounts& worker, std::uint64_t bytes) {
    return ": " + std::to_string(guest.bytes) + " of " + std::to_string(bytes) +
           " bytes had arrived, after " + std::to_string(worker.sleeps) +
           " sleeps of the worker and " + std::to_string(guest.sleeps) + " of the guest";
}

}  // namespace

const SystemInfo& info() {
    static const SystemInfo system{
        "vhost-vsock-used",
        {{"per-buffer", "one used-index update for every buffer filled"},
         {"batched", "heads and lengths collected, one index update for many"},
         {"noop", "one index update a run, no signals, both sides poll: the floor"}},
        {{"ring-size", "entries of the RX virtqueue, a power of two", 128, 2, 32768, "1"},
         {"iov-limit", "most heads that can be collected (UIO_MAXIOV)", 1024, 1, 1024, "1"},
         {"pkt-weight", "buffers filled in one worker run (VHOST_VSOCK_PKT_WEIGHT)", 256, 1, 65536,
          "1"},
         {"byte-weight", "bytes written in one worker run (VHOST_VSOCK_WEIGHT)", 524'288, 1,
          1U << 30, "B"},
         {"rx-buf", "bytes of a guest's RX buffer, 44 of them header", 4096 - 320, 64, 65536, "B"},
         {"burst", "packets the sender has queued when the worker runs", 256, 1, 4096, "1"},
         {"event-idx", "VIRTIO_F_EVENT_IDX negotiated", 1, 0, 1, "1"}},
        "per-buffer",
        "batched"};
    return system;
}

void check(const State& state) {
    parse(state);
}

void check(const State& state, const Workload& workload) {
    check(state);
    trial::check(info(), workload, kLongest);
}

Outcome run_trial(const State& state, const Workload& workload, const Placement& placement,
                  std::uint64_t deadline_ns, const Hooks& hooks,
                  const std::function<bool()>& stop) {
    check(state, workload);
    const Parameters parameters = parse(state);

    const trial::Pattern pattern(workload.seed, workload.payload_bytes);
    const trial::RingMemory memory(parameters.ring_size, parameters.event_idx);
    Doorbell kick;
    Doorbell signal;
    DriverQueue driver(memory.ring());
    DeviceQueue device(memory.ring());
    Guest guest(driver, parameters.ring_size, parameters.buffer_bytes,
                {workload.writes, workload.payload_bytes}, pattern, kick);
    SendQueue queue(parameters.burst, workload.writes, workload.payload_bytes, pattern);
    const auto publish = make(state.policy, device, parameters);
    Worker worker(parameters.worker, device, *publish, queue, signal);

    Outcome outcome;
    trial::Trial trial(deadline_ns, stop);
    trial.add({"worker", placement.worker_cpu, hooks.worker_starts, hooks.worker_ends,
               [&](Task& task) { worker.send_all(kick, task, trial); }});
    trial.add(
        {"receiver", placement.receiver_cpu, hooks.receiver_starts, hooks.receiver_ends,
         [&](Task& task) { guest.receive_all(parameters.worker.notifies, signal, task, trial); }});
    if (placement.device_cpu) {
        outcome.warnings.push_back({"device-cpu-unused",
                                    "the sender ran in the worker's thread: vhost-vsock-used has "
                                    "no thread for CPU " +
                                        std::to_string(*placement.device_cpu)});
    }
    trial.run(placement.idle_poll, outcome.warnings);

    const PublishCounts published = publish->counts();
    outcome.failure = trial.failure();
    if (outcome.failure.starts_with("deadline:")) {
        outcome.failure +=
            progress(guest.counts(), worker.counts(), workload.writes * workload.payload_bytes);
    }
    outcome.bytes_sent = queue.bytes_written();
    outcome.bytes_received = guest.counts().bytes;
    outcome.units = guest.counts().buffers;
    if (outcome.units > 0) {
        outcome.first_to_last_ns = guest.counts().last_ns - guest.counts().first_ns;
        outcome.whole_ns = outcome.first_to_last_ns;
    }
    outcome.device_ns = worker.counts().sender_ns;
    outcome.batch_sizes = published.sizes;
    outcome.counts = counts_of(queue, worker.counts(), guest.counts(), published);
    if (outcome.failure.empty() && published.entries != guest.counts().buffers) {
        outcome.failure = std::to_string(published.entries) + " used entries, but " +
                          std::to_string(guest.counts().buffers) + " buffers received";
    }
    warn_if_starved(worker.counts(), outcome.warnings);
    return outcome;
}

}  // namespace vsb::engine::vhost_vsock_used
