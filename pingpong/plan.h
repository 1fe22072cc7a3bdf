#pragma once
// What the client tells the server before the first request (PLAN).

#include <cstdint>
#include <string>

#include "transport/control.h"
#include "transport/endpoint.h"

namespace vsb::pingpong {

struct PingpongPlan {
    std::uint64_t requests = 0;
    std::uint64_t warmup = 0;
    std::uint64_t size = 0;
    transport::Kind kind = transport::Kind::stream;
    std::string nonce;
};

transport::ControlMessage plan_message(const PingpongPlan& plan);
// Throws std::invalid_argument.
PingpongPlan plan_of(const transport::ControlMessage& message);

}  // namespace vsb::pingpong
