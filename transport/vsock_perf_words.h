#pragma once
// vsock_perf's own lines, so that scripts written for it read ours
// (tools/testing/vsock/vsock_perf.c prints these texts). Pure: values in, text out.

#include <cstdint>
#include <string>

#include "transport/endpoint.h"

namespace vsb::transport {

struct SenderWords {
    std::uint64_t bytes = 0;
    std::uint64_t loop_ns = 0;     // the whole tx loop
    std::uint64_t in_send_ns = 0;  // of it, inside send()
};

struct ReceiverWords {
    std::uint64_t bytes = 0;
    std::uint64_t loop_ns = 0;  // from accept to the end of the stream
    std::uint64_t in_read_ns = 0;
    std::uint64_t reads = 0;
    std::uint64_t wakeups = 0;
};

// Printed before the transfer. `endpoint` of the sender: "CID:PORT" for vsock, else its own
// spelling.
std::string sender_head(const Endpoint& endpoint, std::uint64_t bytes, std::uint64_t buffer_bytes,
                        bool zerocopy);
std::string receiver_head(const Endpoint& endpoint, std::uint64_t buffer_bytes,
                          std::uint64_t vsock_bytes, std::uint64_t rcvlowat);

// Printed after it. The rate is over the whole loop on both sides, so that the two can be compared
// (vsock_perf divides the sender's bytes by its time inside send() only). bytes and times are above
// 0: a transfer of nothing has no rate and is a failure before it comes here.
std::string sender_tail(const SenderWords& words);
std::string receiver_tail(const ReceiverWords& words);

}  // namespace vsb::transport
