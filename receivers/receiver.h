#pragma once
// One whole run of the receiver: handshake, warm-up, the measured part to the end of the stream,
// and the check that what was sent arrived.

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "receivers/perf/counters.h"
#include "receivers/receiver_options.h"
#include "transport/results.h"
#include "transport/usage.h"
#include "transport/watch.h"

namespace vsb::receivers {

struct ReceiverOutcome {
    std::uint64_t bytes = 0;
    std::uint64_t warmup_bytes = 0;
    std::uint64_t write_bytes = 0;  // of the sender; 0: unknown
    std::uint64_t recv_bytes = 0;
    unsigned threads = 1;
    std::uint64_t recvs = 0;  // the final 0 of each thread included
    std::uint64_t wakeups = 0;
    std::uint64_t first_to_last_ns = 0;  // first byte there to read to last byte read
    std::uint64_t whole_ns = 0;  // from accept (with a warm-up: from its end) to the end of stream
    std::uint64_t in_recv_ns = 0;
    std::array<std::uint64_t, 64> sizes{};
    std::uint64_t vsock_buffer_bytes = 0;
    bool checked = false;  // the sender said how much it sent, or --expect did, and it was all
    transport::Usage usage;
    perf::Counts counts;
    perf::Counts cpu_counts;
    std::vector<double> intervals_gbit_s;
};

// listening(endpoint as bound) is called once a sender can connect. Throws Failure,
// std::system_error, UsageError (a CPU) or Unavailable; then there are no figures.
ReceiverOutcome run_receiver(transport::Calls& calls, const ReceiverOptions& options,
                             const std::function<void(const transport::Endpoint&)>& listening,
                             const transport::Watch::IntervalSink& interval = {});

transport::Results receiver_results(const ReceiverOptions& options, const ReceiverOutcome& outcome);

}  // namespace vsb::receivers
