#pragma once
// What a sender tells the receiver before the first byte (PLAN), so that the receiver can check
// what arrives.

#include <cstdint>
#include <string>

#include "transport/control.h"
#include "transport/endpoint.h"

namespace vsb::transport {

struct StreamPlan {
    std::uint64_t bytes = 0;         // measured, all threads together; 0: known at the end only
    std::uint64_t warmup_bytes = 0;  // sent before, per thread
    std::uint64_t write_bytes = 0;   // of one send()
    std::uint64_t seed = 0;          // of the payload
    unsigned threads = 1;            // data connections
    Kind kind = Kind::stream;
    std::string nonce;  // both sides must have been given the same; may be empty
};

// Bytes of thread `index`: shares differ by one byte at most.
std::uint64_t share_of(std::uint64_t bytes, unsigned threads, unsigned index);

ControlMessage plan_message(const StreamPlan& plan);
// Throws std::invalid_argument: not of this version, a field missing or out of range.
StreamPlan plan_of(const ControlMessage& message);

// Throws std::invalid_argument unless 1 to 64 letters, digits, '-', '_' or '.'.
void check_nonce(std::string_view nonce);

}  // namespace vsb::transport
