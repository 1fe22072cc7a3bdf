#pragma once
// The receiving end: takes datagrams off the queue, checks each one and frees it.

#include <cstdint>
#include <vector>

#include "engine/dgram_sendmsg/receive_queue.h"
#include "engine/dgram_sendmsg/send.h"
#include "engine/dgram_sendmsg/transport.h"
#include "engine/trial/pattern.h"
#include "engine/trial/trial.h"

namespace vsb::engine::dgram_sendmsg {

// The n-th destination of a trial. Its address tells which of the two transports belongs to it.
Address address_of(std::uint64_t n) noexcept;
std::uint32_t transport_of(std::uint64_t n) noexcept;

// The content of a sender's datagram, as a number for trial::Pattern.
std::uint64_t content_of(std::uint32_t sender, std::uint64_t sequence) noexcept;

// What every datagram must be.
struct Expected {
    std::vector<std::uint64_t> datagrams;  // per sender
    std::uint32_t length = 0;
    Address from;
    std::uint64_t destinations = 1;  // numbered from 0
};

struct Received {
    std::vector<std::uint64_t> datagrams;  // per sender
    std::uint64_t total = 0;
    std::uint64_t bytes = 0;
    std::uint64_t takes = 0;     // times the queue was emptied
    std::uint64_t first_ns = 0;  // the first datagram was seen
    std::uint64_t last_ns = 0;   // the last byte was checked
};

// Receives until every sender's datagrams are there, or fails the trial at the first one that is
// out of its sender's order, holds other bytes or names addresses that do not belong together.
Received receive(ReceiveQueue& queue, SendBuffer& buffer, const Expected& expected,
                 const trial::Pattern& pattern, Current& me, trial::Trial& trial);

}  // namespace vsb::engine::dgram_sendmsg
