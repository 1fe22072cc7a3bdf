#include "engine/vsock/parameters.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "engine/vsock/skb.h"

namespace vsb::engine {
namespace {

constexpr std::uint64_t kMaxPayloadBytes = std::uint64_t{1} << 20;
constexpr std::uint32_t kMostRealFlows = 64;  // threads of the system
constexpr std::uint64_t kMostCredit = std::uint64_t{4} << 30;

[[noreturn]] void refuse(const std::string& what) {
    throw std::invalid_argument("virtio-vsock-rx: " + what);
}

const ParameterInfo& find(const std::string& name) {
    const auto& all = vsock_rx_parameters();
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const ParameterInfo& info) { return info.name == name; });
    if (found != all.end()) return *found;
    std::string names;
    for (const auto& info : all)
        names += (names.empty() ? "" : ", ") + info.name;
    refuse("there is no parameter '" + name + "' (there are " + names + ")");
}

void set(VsockRxParameters& p, const std::string& name, std::uint64_t value) {
    if (name == "max-pkts") p.limits.max_pkts = static_cast<std::uint32_t>(value);
    if (name == "max-bytes") p.limits.max_bytes = value;
    if (name == "ring-size") p.ring_size = static_cast<std::uint16_t>(value);
    if (name == "rx-buf-bytes") p.rx_buf_bytes = static_cast<std::uint32_t>(value);
    if (name == "buf-alloc") p.buf_alloc = static_cast<std::uint32_t>(value);
    if (name == "rcvlowat") p.rcvlowat = static_cast<std::uint32_t>(value);
    if (name == "event-idx") p.event_idx = value != 0;
    if (name == "flows") p.flows = static_cast<std::uint32_t>(value);
    if (name == "kick-cost-ns") p.kick_cost_ns = value;
    if (name == "irq-cost-ns") p.irq_cost_ns = value;
}

void in_range(const char* name, std::uint64_t value, std::uint64_t low, std::uint64_t high) {
    if (value < low || value > high)
        refuse(std::string(name) + " is " + std::to_string(value) + ", allowed are " +
               std::to_string(low) + " to " + std::to_string(high));
}

}  // namespace

const std::vector<ParameterInfo>& vsock_rx_parameters() {
    static const std::vector<ParameterInfo> parameters{
        {"max-pkts", "packets one ownership of a socket may carry", 64, 1, 32768, "1"},
        {"max-bytes", "payload one ownership of a socket may carry", 65536, 1, 1 << 24, "B"},
        {"ring-size", "entries of each virtqueue, a power of two", 128, 2, 32768, "1"},
        {"rx-buf-bytes", "size of an RX buffer before its overhead of 320 bytes", 4096, 512, 65536,
         "B"},
        {"buf-alloc", "receive buffer of the guest's socket, the credit of its peer", 262144, 1,
         1 << 26, "B"},
        {"rcvlowat", "SO_RCVLOWAT of the guest's socket", 1, 1, 1 << 26, "B"},
        {"event-idx", "1: event indices (VIRTIO_F_EVENT_IDX), 0: flags", 1, 0, 1, "1"},
        {"flows",
         "connections that take turns packet by packet, a receiver thread each (above 64: the "
         "virtual clock)",
         1, 1, 1024, "1"},
        {"kick-cost-ns", "injected: the notifying thread is held this long for each kick", 0, 0,
         1'000'000, "ns"},
        {"irq-cost-ns", "injected: the worker is held this long for each interrupt", 0, 0,
         1'000'000, "ns"},
    };
    return parameters;
}

VsockRxParameters parse_vsock_rx(
    std::span<const std::pair<std::string, std::uint64_t>> parameters) {
    VsockRxParameters parsed;
    std::vector<std::string> seen;
    for (const auto& [name, value] : parameters) {
        const ParameterInfo& info = find(name);
        if (std::find(seen.begin(), seen.end(), name) != seen.end())
            refuse(name + " is given twice");
        seen.push_back(name);
        in_range(info.name.c_str(), value, info.low, info.high);
        if (name == "ring-size" && !std::has_single_bit(value))
            refuse("ring-size is " + std::to_string(value) + ", which is not a power of two");
        set(parsed, name, value);
    }
    if (parsed.rcvlowat > parsed.buf_alloc)
        refuse("rcvlowat (" + std::to_string(parsed.rcvlowat) + ") exceeds buf-alloc (" +
               std::to_string(parsed.buf_alloc) + "): a receiver would never be woken");
    return parsed;
}

VsockRxParameters parse_vsock_rx_state(const State& state) {
    VsockRxParameters parsed = parse_vsock_rx(state.parameters);
    if (parsed.flows > kMostRealFlows && !state.virtual_machine)
        refuse("flows is " + std::to_string(parsed.flows) +
               ", each with a thread of its own: more than " + std::to_string(kMostRealFlows) +
               " need the virtual clock");
    if (parsed.flows * std::uint64_t{parsed.buf_alloc} > kMostCredit)
        refuse("flows (" + std::to_string(parsed.flows) + ") with buf-alloc (" +
               std::to_string(parsed.buf_alloc) + ") each: together more than 4 GiB");
    if (state.policy == "noop" && parsed.flows > 1)
        refuse("flows is " + std::to_string(parsed.flows) +
               ", but policy noop looks no socket up and has one (leave flows out)");
    return parsed;
}

void check_vsock_rx_workload(const VsockRxParameters& parameters, const Workload& workload) {
    in_range("payload", workload.payload_bytes, 1, kMaxPayloadBytes);
    in_range("writes", workload.writes, 1, std::uint64_t{1} << 40);
    in_range("recv size", workload.recv_bytes, 1, std::uint64_t{1} << 26);
    in_range("warm-up requests", workload.warmup_requests, 0, std::uint64_t{1} << 32);
    if (parameters.rcvlowat > workload.recv_bytes)
        refuse("rcvlowat (" + std::to_string(parameters.rcvlowat) + ") exceeds the recv size (" +
               std::to_string(workload.recv_bytes) +
               "): a receiver would sleep beyond what it "
               "asked for; give a larger recv size");
    if (workload.kind == Kind::rtt && parameters.flows != 1)
        refuse("rtt needs flows=1: it is one client's ping-pong");
    if (workload.writes < parameters.flows)
        refuse("flows is " + std::to_string(parameters.flows) + ", but there are only " +
               std::to_string(workload.writes) + " writes to share among them");
    if (workload.kind == Kind::rtt && parameters.rcvlowat != 1)
        refuse("rtt needs rcvlowat=1: the rest of a request may be smaller than the mark");
    if (workload.kind == Kind::rtt && workload.writes > (std::uint64_t{1} << 28))
        refuse("at most 2^28 requests, for every sample is kept");
}

}  // namespace vsb::engine
