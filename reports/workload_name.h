#pragma once
// A workload's name taken apart.

#include <string>
#include <string_view>

namespace vsb::reports {

// "fixed/64B" -> kind "fixed", payload "64B". A name that does not end in a size has no kind, and
// its payload is the whole name.
struct WorkloadName {
    std::string kind;
    std::string payload;
};

WorkloadName parse_workload(std::string_view name);

// The spelling of the mailing lists: 64B, 1K, 64K, 2G; plain bytes where that is not exact (1500B).
std::string size_text(long long bytes);

}  // namespace vsb::reports
