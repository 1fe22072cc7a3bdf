#pragma once
// The figures every tool reports in the same words.

#include <cstdint>
#include <string>

#include "transport/results.h"
#include "transport/usage.h"

namespace vsb::transport {

// first_to_last_ns and whole_ns with their rates. Throws Failure when no time passed: a clock that
// stands still measured nothing.
void add_times(Results& results, std::uint64_t bytes, std::uint64_t first_to_last_ns,
               std::uint64_t whole_ns);

void add_usage(Results& results, const Usage& usage);

// interval_gbit_s=1.2,1.3; nothing for none.
void add_intervals(Results& results, const std::vector<double>& gbit_s);

// "--cpu" as given: 1,3; or none.
std::string join(const std::vector<int>& cpus);

}  // namespace vsb::transport
