#pragma once
// The echo server: sends every request back as it came, for one client.

#include <cstdint>
#include <functional>

#include "pingpong/pingpong_options.h"
#include "pingpong/plan.h"
#include "receivers/perf/counters.h"
#include "transport/calls.h"
#include "transport/results.h"
#include "transport/usage.h"

namespace vsb::pingpong {

struct ServerOutcome {
    PingpongPlan plan;
    std::uint64_t requests = 0;  // echoed, the warm-up included
    transport::Usage usage;      // over all of them, as are the counts
    perf::Counts counts;
    perf::Counts cpu_counts;
};

// listening(endpoint as bound) is called once a client can connect. Throws as run_client().
ServerOutcome run_server(transport::Calls& calls, const PingpongOptions& options,
                         const std::function<void(const transport::Endpoint&)>& listening);

transport::Results server_results(const PingpongOptions& options, const ServerOutcome& outcome);

}  // namespace vsb::pingpong
