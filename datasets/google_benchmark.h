#pragma once
// Google Benchmark's JSON (--benchmark_format=json): each benchmark a workload, each repetition a
// run.

#include <string>
#include <string_view>

#include "datasets/foreign_file.h"

namespace vsb::datasets {

// The headline is real_time in ns; then cpu_time in ns, bytes_per_second in B/s, items_per_second
// in items/s, and the user's counters, which have no unit there ("1"). Aggregates are passed over.
// Throws ImportError: also for a benchmark that reports an error, and for a file of aggregates
// alone.
ForeignFile read_google_benchmark(std::string_view text, const std::string& name);

}  // namespace vsb::datasets
