#pragma once
// What vsb-pingpong was asked to do, validated.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "transport/endpoint.h"
#include "transport/output.h"
#include "transport/sockets.h"

namespace vsb::pingpong {

struct PingpongOptions {
    bool help = false;
    bool server = false;
    transport::Endpoint endpoint;
    transport::Kind kind = transport::Kind::stream;
    std::uint64_t requests = 10000;
    std::uint64_t warmup = 1000;
    std::uint64_t size = 64;
    std::uint64_t seed = 1;
    bool busy_poll = false;
    std::vector<int> cpus;  // one at most
    transport::VsockBuffers vsock;
    std::uint64_t connect_timeout_ns = 10000000000;
    std::uint64_t timeout_ns = 30000000000;
    std::string nonce;
    bool perf = false;
    std::optional<int> perf_cpu;
    int ready_fd = -1;
    std::string samples_path;  // empty: the samples are not written
    transport::Format format = transport::Format::lines;
};

// Throws transport::UsageError.
PingpongOptions parse_pingpong_options(std::span<const std::string> args);
std::string pingpong_help();

}  // namespace vsb::pingpong
