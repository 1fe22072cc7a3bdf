#include "harness/host/host_figures.h"

#include <stdexcept>
#include <string>

#include "harness/rtt_figures.h"

namespace vsb::harness {
namespace {

using datasets::Measurement;
using transport::ReadResults;

constexpr double kNsOfAMs = 1e6;

double number(const ReadResults& from, std::string_view key) {
    return static_cast<double>(from.fields.number(key));
}

void check_bytes(const Workload& workload, const ReadResults& sender, const ReadResults& receiver) {
    const std::uint64_t planned = workload.writes * workload.payload_bytes;
    const std::uint64_t sent = sender.fields.number("bytes");
    const std::uint64_t received = receiver.fields.number("bytes");
    if (sent != planned || received != planned) {
        throw std::runtime_error("bytes differ: planned " + std::to_string(planned) + ", sent " +
                                 std::to_string(sent) + ", received " + std::to_string(received));
    }
    if (sender.fields.text("checked") != "yes" || receiver.fields.text("checked") != "yes") {
        throw std::runtime_error("the two sides did not compare their counts of bytes");
    }
}

std::vector<Measurement> cycles(const ReadResults& receiver) {
    if (const std::string* why = receiver.fields.find("cycles_per_byte_absent")) {
        throw std::runtime_error("no cycles were counted: " + *why);
    }
    if (const std::string* why = receiver.fields.find("cycles_absent")) {
        throw std::runtime_error("no cycles were counted: " + *why);
    }
    std::vector<Measurement> all{
        {"cycles_per_byte", "cycles/B", receiver.fields.real("cycles_per_byte")}};
    if (receiver.fields.find("instructions_per_byte") != nullptr) {
        all.push_back({"instructions_per_byte", "instructions/B",
                       receiver.fields.real("instructions_per_byte")});
    }
    return all;
}

}  // namespace

std::vector<Measurement> host_throughput(const Workload& workload, const ReadResults& sender,
                                         const ReadResults& receiver) {
    check_bytes(workload, sender, receiver);
    if (workload.kind == Kind::cycles) return cycles(receiver);
    // Bits a nanosecond are Gbit/s.
    const double bits = 8 * number(receiver, "bytes");
    const double ns = number(receiver, "first_to_last_ns");
    if (!(ns > 0)) throw std::runtime_error("the clock did not advance during the transfer");
    return {{"throughput", "Gbit/s", bits / ns},
            {"recv_calls", "1", number(receiver, "recvs")},
            {"whole_time", "ms", number(receiver, "whole_ns") / kNsOfAMs},
            {"bytes_sent", "B", number(sender, "bytes")},
            {"bytes_received", "B", number(receiver, "bytes")},
            {"sends", "1", number(sender, "sends")},
            {"short_sends", "1", number(sender, "short_sends")},
            {"receiver_voluntary_switches", "1", number(receiver, "voluntary_switches")},
            {"receiver_involuntary_switches", "1", number(receiver, "involuntary_switches")},
            {"sender_voluntary_switches", "1", number(sender, "voluntary_switches")},
            {"receiver_cpu_time", "ms",
             (number(receiver, "user_ns") + number(receiver, "system_ns")) / kNsOfAMs},
            {"sender_cpu_time", "ms",
             (number(sender, "user_ns") + number(sender, "system_ns")) / kNsOfAMs}};
}

TrialResult host_rtt(const Workload& workload, const ReadResults& client,
                     std::vector<std::uint64_t> rtt_ns) {
    if (rtt_ns.size() != workload.writes || client.fields.number("requests") != workload.writes) {
        throw std::runtime_error("planned " + std::to_string(workload.writes) +
                                 " round trips, measured " + std::to_string(rtt_ns.size()));
    }
    TrialResult result;
    result.measurements = rtt_figures(rtt_ns);
    result.measurements.push_back({"clock_cost", "ns", client.fields.real("clock_cost_ns")});
    result.samples.push_back({"rtt", "ns", std::move(rtt_ns)});
    return result;
}

}  // namespace vsb::harness
