#pragma once
// vsock_perf's receiver: poll(), one read() a wake-up, to the end of the stream. Unlike vsock_perf
// it does not leave when the peer has shut down with data still queued.

#include <functional>

#include "senders/compat_options.h"
#include "transport/calls.h"
#include "transport/vsock_perf_words.h"

namespace vsb::senders {

struct CompatReceived {
    transport::ReceiverWords words;
    std::uint64_t first_to_last_ns = 0;
};

// listening() is called once a sender can connect. Waits for one without a deadline, as vsock_perf
// does. Throws std::system_error, or Failure for a stream that was reset or empty.
CompatReceived compat_receive(transport::Calls& calls, const CompatOptions& options,
                              const std::function<void()>& listening);

}  // namespace vsb::senders
