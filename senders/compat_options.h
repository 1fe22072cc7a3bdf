#pragma once
// vsock_perf's options, with its spellings, defaults and abbreviations, and two of ours: --sender
// takes any endpoint, --listen one for the receiver.

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "transport/endpoint.h"

namespace vsb::senders {

struct CompatOptions {
    bool help = false;
    bool sender = false;
    transport::Endpoint endpoint;  // to connect to, or to listen on
    std::uint64_t port = 1234;
    std::uint64_t bytes = 65536;
    std::uint64_t buf_bytes = 131072;
    std::uint64_t vsk_bytes = 262144;
    std::uint64_t rcvlowat = 1;
    bool zerocopy = false;
};

// Throws transport::UsageError. As in vsock_perf, --help ends the reading of further options.
CompatOptions parse_compat_options(std::span<const std::string> args);
std::string compat_help();

}  // namespace vsb::senders
