#pragma once
// Pins the calling thread to one CPU, and tells whether it stayed.

#include <vector>

namespace vsb::transport {

// Throws UsageError unless the calling thread may run on every one of them.
void check_cpus_allowed(const std::vector<int>& cpus);

// Throws UsageError when the CPU is outside the mask this process may use, std::system_error when
// the kernel refuses. Returns on that CPU.
void pin_this_thread(int cpu);

// Throws Failure when the calling thread may no longer run on `cpu` alone.
void check_pinned(int cpu);

}  // namespace vsb::transport
