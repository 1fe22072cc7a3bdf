#pragma once
// What the tools printed as a trial's result: pure.

#include <cstdint>
#include <vector>

#include "harness/experiment.h"
#include "harness/target.h"
#include "transport/results.h"

namespace vsb::harness {

// Throughput: the receiver's first-to-last-byte rate, if both sides counted the planned bytes and
// compared counts; cycles: the receiver thread's. Throws std::invalid_argument for a missing figure
// and std::runtime_error for one that must not be believed (bytes, counters).
std::vector<datasets::Measurement> host_throughput(const Workload& workload,
                                                   const transport::ReadResults& sender,
                                                   const transport::ReadResults& receiver);

// Round trips: samples as the client wrote them, one for each request.
TrialResult host_rtt(const Workload& workload, const transport::ReadResults& client,
                     std::vector<std::uint64_t> rtt_ns);

}  // namespace vsb::harness
