#pragma once
// What a loop does when a call on a blocking socket fails: goes on after EINTR, waits after EAGAIN,
// and throws std::system_error naming the operation and the peer for all else.

#include <string>

#include "transport/calls.h"

namespace vsb::transport {

// `events`: POLLIN or POLLOUT, what to wait for after EAGAIN (50 ms at most, so that the caller's
// loop sees calls for attention).
void survive(Calls& calls, int fd, int error, short events, const char* operation,
             const std::string& peer);

}  // namespace vsb::transport
