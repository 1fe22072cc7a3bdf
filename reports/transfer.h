#pragma once
// How much one trial of an experiment moves, in the spelling of the published text.

#include <string>

#include "datasets/records.h"

namespace vsb::reports {

// "2^20 writes, at most 2G (payload/sent): fixed, matched: 64B/64M, 1K/1G, 4K/2G; rtt: 10,000
// requests". The rule is named only where every workload follows it. Empty without workloads.
std::string transfer_text(const datasets::ExperimentRecord& record);

// "10,000", "100 to 10,000": requests of an rtt trial; empty when there is no rtt workload.
std::string requests_text(const datasets::ExperimentRecord& record);

// "64K": the recv() size all workloads of a kind have in common; empty when there is none.
std::string recv_size_text(const datasets::ExperimentRecord& record, const std::string& kind);

}  // namespace vsb::reports
