#pragma once
// The loops that are measured on the receiving side, one for each way to wait for data.

#include <array>
#include <cstdint>
#include <string>

#include "transport/calls.h"
#include "transport/payload.h"
#include "transport/workers.h"

namespace vsb::receivers {

enum class Mode : std::uint8_t {
    recv,     // plain blocking recv(), no poll
    poll,     // poll(), then one recv(), as vsock_perf
    epoll,    // epoll_wait(), then one recv()
    waitall,  // recv(MSG_WAITALL)
    uring,    // io_uring, one receive at a time
};

struct ReceiveJob {
    int fd = -1;
    std::string peer;  // for errors
    Mode mode = Mode::recv;
    std::uint64_t recv_bytes = 65536;
    bool messages = false;      // seqpacket: a message that does not fit is a Failure
    std::uint64_t stop_at = 0;  // 0: at the end of the stream; else at so many bytes
    std::uint64_t planned = 0;  // 0: unknown. From there on the clock is read after each recv()
    bool timed = false;         // measure the time inside recv(), at two clock reads a call
    const transport::Payload* expected = nullptr;  // --verify
    std::uint64_t offset = 0;                      // of the first byte in the payload's stream
};

struct ReceiveTally {
    std::uint64_t bytes = 0;
    std::uint64_t recvs = 0;  // calls that returned, the final 0 included
    std::uint64_t wakeups =
        0;  // returns of poll() or epoll_wait(), the one for the first byte apart
    std::uint64_t first_ns = 0;             // first byte there to read
    std::uint64_t last_ns = 0;              // last byte read
    std::uint64_t end_ns = 0;               // end of the stream seen
    std::uint64_t in_recv_ns = 0;           // timed only
    bool at_end = false;                    // the stream ended (or stop_at was reached)
    std::array<std::uint64_t, 64> sizes{};  // [k]: recv()s of 2^k to 2^(k+1)-1 bytes
};

// Waits for the first byte with poll(), so that its arrival has a time, then loops. Throws
// std::system_error naming the peer; Failure for a wrong byte or a message cut short; Unavailable
// without io_uring. Returns early when attend() says so.
ReceiveTally receive_loop(transport::Calls& calls, const ReceiveJob& job,
                          transport::Progress& progress, const transport::Attend& attend);

// "64:12,128:4": recv()s by size, the lower bound of each class named; empty for none.
std::string format_sizes(const std::array<std::uint64_t, 64>& sizes);

}  // namespace vsb::receivers
