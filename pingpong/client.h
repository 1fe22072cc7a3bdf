#pragma once
// The client: sends a request, waits for its echo, compares it, keeps the time of each.

#include <cstdint>
#include <vector>

#include "pingpong/pingpong_options.h"
#include "receivers/perf/counters.h"
#include "transport/calls.h"
#include "transport/results.h"
#include "transport/usage.h"

namespace vsb::pingpong {

struct ClientOutcome {
    std::vector<std::uint64_t> rtt_ns;  // one a request, in order
    std::uint64_t whole_ns = 0;         // all measured requests
    double clock_cost_ns = 0;           // of one clock read; it is in every sample, not subtracted
    transport::Usage usage;
    perf::Counts counts;
    perf::Counts cpu_counts;
};

// Throws Failure (a short, changed or missing reply, a deadline), std::system_error, UsageError (a
// CPU) or Unavailable; then there are no figures.
ClientOutcome run_client(transport::Calls& calls, const PingpongOptions& options);

transport::Results client_results(const PingpongOptions& options, const ClientOutcome& outcome);

// The samples as text, one a line.
std::string samples_text(const std::vector<std::uint64_t>& rtt_ns);

}  // namespace vsb::pingpong
