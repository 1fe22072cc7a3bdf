#pragma once
// The loop that is measured on the sending side: plain blocking send() of write_bytes each.

#include <cstdint>
#include <string>

#include "senders/zerocopy.h"
#include "transport/calls.h"
#include "transport/payload.h"
#include "transport/workers.h"

namespace vsb::senders {

struct SendJob {
    int fd = -1;
    std::string peer;  // for errors
    std::uint64_t write_bytes = 0;
    std::uint64_t goal_bytes = 0;  // no goal: 2^64-1, until attention says stop
    std::uint64_t offset = 0;      // of the first byte in the payload's stream
    bool timed = false;            // measure the time inside send(), at a clock read a call
    Zerocopy* zerocopy = nullptr;  // null: the kernel copies
};

struct SendTally {
    std::uint64_t bytes = 0;
    std::uint64_t sends = 0;        // calls that took bytes
    std::uint64_t short_sends = 0;  // of them, those that took fewer than asked
    std::uint64_t first_ns = 0;     // just before the first send()
    std::uint64_t last_ns = 0;      // just after the last
    std::uint64_t in_send_ns = 0;   // timed only
};

// Throws std::system_error naming the peer. Returns early when attend() says so.
SendTally send_loop(transport::Calls& calls, const transport::Payload& payload, const SendJob& job,
                    transport::Progress& progress, const transport::Attend& attend);

}  // namespace vsb::senders
