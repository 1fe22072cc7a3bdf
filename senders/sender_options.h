#pragma once
// What vsb-sender was asked to do, validated.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "transport/endpoint.h"
#include "transport/output.h"
#include "transport/sockets.h"

namespace vsb::senders {

struct SenderOptions {
    bool help = false;
    transport::Endpoint endpoint;
    transport::Kind kind = transport::Kind::stream;
    std::uint64_t bytes = 0;  // 0: by duration
    std::uint64_t duration_ns = 0;
    std::uint64_t write_bytes = 131072;
    std::uint64_t warmup_bytes = 0;  // each thread
    std::uint64_t threads = 1;
    std::vector<int> cpus;
    bool zerocopy = false;
    bool timed = false;
    std::uint64_t seed = 1;
    transport::VsockBuffers vsock;
    std::uint64_t connect_timeout_ns = 10000000000;
    std::uint64_t timeout_ns = 30000000000;
    std::uint64_t interval_ns = 0;
    bool control = true;
    std::string nonce;
    bool perf = false;
    std::optional<int> perf_cpu;
    transport::Format format = transport::Format::lines;
};

// Throws transport::UsageError.
SenderOptions parse_sender_options(std::span<const std::string> args);
std::string sender_help();

}  // namespace vsb::senders
