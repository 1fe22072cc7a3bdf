#pragma once
// Why one ownership of a socket's lock ended. The names are those of the counters
// "batch_end_<name>".

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace vsb::engine {

enum class BatchEnd : std::uint8_t {
    max_pkts,          // carried as many packets as allowed
    max_bytes,         // the next packet would exceed the byte bound; it opens the next batch
    oversize,          // the next packet alone exceeds the byte bound: per-packet path
    flow_change,       // other peer address or local port
    malformed,         // short, over-long or lying about its length: dropped
    other_op,          // anything but RW
    other_type,        // SEQPACKET or unknown
    state_change,      // no longer established, or shut down
    transport_change,  // the socket moved to another transport
    protocol_change,   // the socket's protocol was replaced
    callback_change,   // a callback was replaced
    sockmap,           // the socket was put into a sockmap
    receive_limit,     // credit or metadata budget exhausted
    ring_empty,        // no used buffer left
    worker_return,     // the worker leaves with used buffers left
};
inline constexpr std::size_t kBatchEnds = 15;

inline constexpr std::array<std::string_view, kBatchEnds> kBatchEndNames{
    "max_pkts",        "max_bytes",  "oversize",      "flow_change",      "malformed",
    "other_op",        "other_type", "state_change",  "transport_change", "protocol_change",
    "callback_change", "sockmap",    "receive_limit", "ring_empty",       "worker_return",
};

}  // namespace vsb::engine
