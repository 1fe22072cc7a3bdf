#pragma once
// Why the ownerships of a batching receive path ended: what explains a gain that comes or goes.

#include <string>
#include <string_view>

#include "reports/comparison.h"

namespace vsb::reports {

// "mean 62.7 packets; max-pkts 96%, ring-empty 2%": of one workload's trials of state A or B, from
// the recorded batches, batched_packets and batch_end_* counts; reasons of 0.5% and more, the
// commonest first. Empty where the state made no batches or none were recorded.
std::string batch_ends(const Comparison& comparison, std::string_view workload, bool of_a);

}  // namespace vsb::reports
