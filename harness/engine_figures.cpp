#include "harness/engine_figures.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "engine/headline.h"
#include "harness/rtt_figures.h"

namespace vsb::harness {
namespace {

using datasets::Measurement;

constexpr double kNsOfAMs = 1e6;

double as_double(std::uint64_t value) {
    return static_cast<double>(value);
}

std::string byte_failure(const engine::Outcome& outcome, std::uint64_t planned) {
    if (outcome.bytes_sent == planned && outcome.bytes_received == planned) return {};
    return "bytes differ: planned " + std::to_string(planned) + ", sent " +
           std::to_string(outcome.bytes_sent) + ", received " +
           std::to_string(outcome.bytes_received);
}

// Two counts of a system whose ratio says what its policies differ in, where a timing may not.
struct Ratio {
    std::string_view system;
    std::string_view metric;
    std::string_view unit;
    std::string_view count;
    std::string_view per;
};

constexpr std::array<Ratio, 5> kRatios{{
    {"virtio-vsock-rx", "locks_per_packet", "1/packet", "lock_acquisitions", "packets"},
    {"vhost-vsock-used", "publications_per_packet", "1/packet", "publications", "used_entries"},
    {"vhost-net-rx", "locks_per_packet", "1/packet", "consumer_locks", "packets_delivered"},
    {"dgram-sendmsg", "locks_per_packet", "1/packet", "socket_locks", "datagrams_sent"},
    {"dgram-sendmsg", "contended_locks_per_packet", "1/packet", "socket_locks_contended",
     "datagrams_sent"},
}};

void add_ratios(const std::string& system, const engine::Outcome& outcome,
                std::vector<Measurement>& measurements) {
    const auto find = [&](std::string_view name) {
        return std::ranges::find(outcome.counts, name, &engine::Count::name);
    };
    for (const Ratio& ratio : kRatios) {
        const auto count = find(ratio.count);
        const auto per = find(ratio.per);
        const auto none = outcome.counts.end();
        if (ratio.system != system || count == none || per == none || per->value == 0) continue;
        measurements.push_back({std::string(ratio.metric), std::string(ratio.unit),
                                as_double(count->value) / as_double(per->value)});
    }
}

void add_details(const std::string& system, const engine::Outcome& outcome,
                 std::vector<Measurement>& measurements) {
    // recv() calls first: the column a reviewer looks for.
    for (const engine::Count& count : outcome.counts) {
        if (count.name == "recv_calls") {
            measurements.push_back({count.name, "1", as_double(count.value)});
        }
    }
    add_ratios(system, outcome, measurements);
    measurements.push_back({"whole_time", "ms", as_double(outcome.whole_ns) / kNsOfAMs});
    measurements.push_back({"device_time", "ms", as_double(outcome.device_ns) / kNsOfAMs});
    measurements.push_back({"bytes_sent", "B", as_double(outcome.bytes_sent)});
    measurements.push_back({"bytes_received", "B", as_double(outcome.bytes_received)});
    for (const engine::Count& count : outcome.counts) {
        // A trial has one figure under a name: a count of the engine never stands for another.
        const bool taken =
            std::ranges::find(measurements, count.name, &Measurement::metric) != measurements.end();
        if (!taken) measurements.push_back({count.name, "1", as_double(count.value)});
    }
}

// Systems that deliver each write as one packet or datagram of its own.
bool counts_packets(const std::string& system) {
    return system == "vhost-net-rx" || system == "dgram-sendmsg";
}

void throughput_figures(const std::string& system, const engine::Outcome& outcome,
                        const Workload& workload, TrialResult& result) {
    result.failure = byte_failure(outcome, workload.writes * workload.payload_bytes);
    if (result.failure.empty() && outcome.first_to_last_ns == 0) {
        result.failure = "the clock did not advance between the first packet and the last byte";
    }
    if (result.failure.empty() && counts_packets(system) && outcome.units != workload.writes) {
        result.failure = "planned " + std::to_string(workload.writes) + " packets, " +
                         std::to_string(outcome.units) + " reached the sink";
    }
    if (!result.failure.empty()) return;
    const engine::Headline headline = engine::headline(system, outcome);
    result.measurements.push_back(
        {std::string(headline.metric), std::string(headline.unit), headline.value});
    add_details(system, outcome, result.measurements);
    // [n]: ownerships of the socket that carried n packets.
    if (!outcome.batch_sizes.empty()) {
        result.samples.push_back({"batch_sizes", "1", outcome.batch_sizes});
    }
}

void rtt_result(const engine::Outcome& outcome, const Workload& workload, TrialResult& result) {
    if (outcome.rtt_ns.size() != workload.writes) {
        result.failure = "planned " + std::to_string(workload.writes) + " round trips, measured " +
                         std::to_string(outcome.rtt_ns.size());
        return;
    }
    result.measurements = rtt_figures(outcome.rtt_ns);
    result.measurements.push_back({"clock_cost", "ns", as_double(outcome.clock_cost_ns)});
    result.samples.push_back({"rtt", "ns", outcome.rtt_ns});
}

// What a published table divides its counters by.
struct PerWork {
    std::string_view suffix;
    std::string_view unit;
    double bytes;
};

PerWork per_work(const std::string& system) {
    if (system == "vhost-vsock-used") return {"gib", "GiB", 1024.0 * 1024 * 1024};
    return {"byte", "B", 1};
}

void cycles_figures(const std::string& system, const std::optional<perf::Counts>& counts,
                    const engine::Outcome& outcome, const Workload& workload, TrialResult& result) {
    result.failure = byte_failure(outcome, workload.writes * workload.payload_bytes);
    if (!result.failure.empty()) return;
    if (!counts || !counts->cycles.value) {
        result.failure =
            "no cycles were counted: " + (counts ? counts->cycles.reason : "no worker ran");
        return;
    }
    const double bytes = as_double(outcome.bytes_received);
    const PerWork work = per_work(system);
    const auto add = [&](std::string name, std::uint64_t count) {
        result.measurements.push_back({name + "_per_" + std::string(work.suffix),
                                       name + "/" + std::string(work.unit),
                                       as_double(count) / bytes * work.bytes});
    };
    add("cycles", *counts->cycles.value);
    if (counts->instructions.value) add("instructions", *counts->instructions.value);
    result.measurements.push_back({"bytes_received", "B", bytes});
}

}  // namespace

TrialResult engine_figures(const std::string& system, const Workload& workload,
                           const engine::Outcome& outcome,
                           const std::optional<perf::Counts>& counters) {
    TrialResult result;
    for (const engine::Warning& warning : outcome.warnings) {
        std::string code = warning.code;
        std::ranges::replace(code, '_', '-');
        result.warnings.push_back({std::move(code), warning.text});
    }
    result.failure = outcome.failure;
    if (!result.failure.empty()) return result;
    switch (workload.kind) {
        case Kind::fixed:
        case Kind::matched:
            throughput_figures(system, outcome, workload, result);
            break;
        case Kind::rtt:
            rtt_result(outcome, workload, result);
            break;
        case Kind::cycles:
            cycles_figures(system, counters, outcome, workload, result);
            break;
    }
    return result;
}

}  // namespace vsb::harness
