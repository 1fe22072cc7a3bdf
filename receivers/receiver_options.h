#pragma once
// What vsb-receiver was asked to do, validated.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "receivers/receive_loop.h"
#include "transport/endpoint.h"
#include "transport/output.h"
#include "transport/sockets.h"

namespace vsb::receivers {

struct ReceiverOptions {
    bool help = false;
    transport::Endpoint endpoint;
    transport::Kind kind = transport::Kind::stream;
    Mode mode = Mode::recv;
    std::uint64_t recv_bytes = 65536;  // 0: match, the sender's write size
    std::optional<std::uint64_t> rcvlowat;
    std::vector<int> cpus;
    bool verify = false;
    bool timed = false;
    transport::VsockBuffers vsock;
    std::uint64_t timeout_ns = 30000000000;
    std::uint64_t interval_ns = 0;
    bool control = true;
    std::string nonce;
    // Without a control channel the sender's plan is given here.
    std::uint64_t expected_bytes = 0;  // 0: unknown, the count is not checked
    std::uint64_t warmup_bytes = 0;    // each thread
    std::uint64_t threads = 1;
    std::uint64_t seed = 1;
    bool perf = false;
    std::optional<int> perf_cpu;
    int ready_fd = -1;
    transport::Format format = transport::Format::lines;
};

// Throws transport::UsageError.
ReceiverOptions parse_receiver_options(std::span<const std::string> args);
std::string receiver_help();

std::string_view mode_name(Mode mode);

}  // namespace vsb::receivers
