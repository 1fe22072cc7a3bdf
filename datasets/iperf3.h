#pragma once
// What `iperf3 -c HOST --json` prints: one run.

#include <string>
#include <string_view>

#include "datasets/foreign_file.h"

namespace vsb::datasets {

// The workload is PROTOCOL/BLOCK ("tcp/128K"), with -reverse and -STREAMSx where so. The headline
// is throughput in Gbit/s as the receiver saw it. Throws ImportError: also for a run that iperf3
// calls failed, one in both directions, and one whose receiver did not report.
ForeignFile read_iperf3(std::string_view text, const std::string& name);

}  // namespace vsb::datasets
