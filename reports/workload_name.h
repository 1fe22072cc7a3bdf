#pragma once
// A workload's name taken apart.

#include <string>
#include <string_view>

namespace vsb::reports {

// "fixed/64B" -> kind "fixed", payload "64B". "fixed/64B/max-pkts=8,flows=2" has the point
// "max-pkts=8,flows=2" besides. A name that is neither has no kind, and its payload is the whole
// name.
struct WorkloadName {
    std::string kind;
    std::string payload;
    std::string point = {};

    // "64B", "64B max-pkts=8,flows=2": what a row is called within its kind.
    std::string label() const { return point.empty() ? payload : payload + " " + point; }
};

WorkloadName parse_workload(std::string_view name);

// The spelling of the mailing lists: 64B, 1K, 64K, 2G; plain bytes where that is not exact (1500B).
std::string size_text(long long bytes);

}  // namespace vsb::reports
