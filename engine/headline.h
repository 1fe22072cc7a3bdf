#pragma once
// The one figure a system is known by, from an outcome. Every system's time is
// Outcome::first_to_last_ns, from the first packet its receiving side saw to the last byte it
// checked; what is divided by it differs, as it does in what was published for each:
//
//   virtio-vsock-rx    Gbit/s  bytes_received * 8 / ns             payload bytes, no headers
//   vhost-vsock-used   Gbit/s  bytes_received * 8 / ns             payload bytes, no headers
//   vhost-net-rx       Mpps    units * 1000 / ns                   packets dropped at the sink
//   dgram-sendmsg      MB/s    bytes_received * 1000 / ns          10^6 bytes, all threads together
//
// Higher is better for each of them.

#include <string_view>

#include "engine/run.h"

namespace vsb::engine {

struct Headline {
    std::string_view metric;  // "throughput" or "packet_rate"
    std::string_view unit;    // "Gbit/s", "Mpps" or "MB/s"
    double value = 0;
};

// Which figure a system has, with value 0. Throws std::invalid_argument for an unknown system.
Headline headline_of(std::string_view system);

// Throws std::invalid_argument for an unknown system, for an outcome with a failure and for one
// whose time is zero: such an outcome has no figure.
Headline headline(std::string_view system, const Outcome& outcome);

}  // namespace vsb::engine
