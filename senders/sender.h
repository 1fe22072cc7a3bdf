#pragma once
// One whole run of the sender: handshake, warm-up, the measured part, the check of what arrived.

#include <cstdint>
#include <string>
#include <vector>

#include "receivers/perf/counters.h"
#include "senders/send_loop.h"
#include "senders/sender_options.h"
#include "transport/results.h"
#include "transport/usage.h"
#include "transport/watch.h"

namespace vsb::senders {

struct SenderOutcome {
    std::uint64_t bytes = 0;
    std::uint64_t sends = 0;
    std::uint64_t short_sends = 0;
    std::uint64_t first_to_last_ns = 0;  // first send() called to last send() returned
    std::uint64_t whole_ns = 0;    // from the start of the loops until the peer has everything
    std::uint64_t loop_ns = 0;     // of it, until the streams are shut down
    std::uint64_t in_send_ns = 0;  // all threads together; timed only
    std::uint64_t zerocopy_completions = 0;
    std::uint64_t zerocopy_copied = 0;
    std::uint64_t vsock_buffer_bytes = 0;  // 0: no vsock
    bool checked = false;                  // the receiver said how much it got, and it was all
    transport::Usage usage;
    perf::Counts counts;      // --perf
    perf::Counts cpu_counts;  // --perf-cpu
    std::vector<double> intervals_gbit_s;
};

// Throws Failure, std::system_error, UsageError (a CPU) or Unavailable; then there are no figures.
SenderOutcome run_sender(transport::Calls& calls, const SenderOptions& options,
                         const transport::Watch::IntervalSink& interval = {});

transport::Results sender_results(const SenderOptions& options, const SenderOutcome& outcome);

}  // namespace vsb::senders
