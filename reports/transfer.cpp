#include "reports/transfer.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "reports/figures.h"
#include "reports/workload_name.h"

namespace vsb::reports {
namespace {

using datasets::ExperimentRecord;
using datasets::WorkloadRecord;

std::vector<WorkloadRecord> of_kind(const ExperimentRecord& record, const std::string& kind) {
    std::vector<WorkloadRecord> found;
    std::copy_if(record.workloads.begin(), record.workloads.end(), std::back_inserter(found),
                 [&](const WorkloadRecord& w) { return w.kind == kind; });
    return found;
}

std::vector<std::string> kinds_of(const ExperimentRecord& record) {
    std::vector<std::string> kinds;
    for (const WorkloadRecord& w : record.workloads) {
        if (std::find(kinds.begin(), kinds.end(), w.kind) == kinds.end()) kinds.push_back(w.kind);
    }
    return kinds;
}

std::string total_text(const WorkloadRecord& w) {
    constexpr long long kMost = 1LL << 50;  // beyond it the record is not one of ours
    if (w.payload_bytes <= 0 || w.writes < 0 || w.writes > kMost / w.payload_bytes) return "?";
    return size_text(w.payload_bytes * w.writes);
}

std::string list(const std::vector<WorkloadRecord>& workloads) {
    std::string out;
    for (const WorkloadRecord& w : workloads) {
        if (!out.empty()) out += ", ";
        out += fmt::format("{}/{}", size_text(w.payload_bytes), total_text(w));
    }
    return out;
}

bool by_published_rule(const WorkloadRecord& w) {
    return w.kind == "rtt" ||
           (w.payload_bytes > 0 &&
            w.writes == std::min<long long>(1LL << 20, (2LL << 30) / w.payload_bytes));
}

}  // namespace

std::string requests_text(const ExperimentRecord& record) {
    const std::vector<WorkloadRecord> rtt = of_kind(record, "rtt");
    if (rtt.empty()) return "";
    const auto [least, most] = std::minmax_element(
        rtt.begin(), rtt.end(), [](const auto& l, const auto& r) { return l.writes < r.writes; });
    if (least->writes == most->writes) return grouped(least->writes);
    return fmt::format("{} to {}", grouped(least->writes), grouped(most->writes));
}

std::string recv_size_text(const ExperimentRecord& record, const std::string& kind) {
    const std::vector<WorkloadRecord> found = of_kind(record, kind);
    if (found.empty() || found.front().recv_bytes <= 0) return "";
    const bool same = std::all_of(found.begin(), found.end(), [&](const WorkloadRecord& w) {
        return w.recv_bytes == found.front().recv_bytes;
    });
    return same ? size_text(found.front().recv_bytes) : "";
}

std::string transfer_text(const ExperimentRecord& record) {
    struct Group {
        std::string kinds;
        std::string transfer;
    };
    std::vector<Group> groups;  // kinds that move the same share a line
    for (const std::string& kind : kinds_of(record)) {
        if (kind == "rtt") continue;
        const std::string transfer = list(of_kind(record, kind));
        const auto same = std::find_if(groups.begin(), groups.end(),
                                       [&](const Group& g) { return g.transfer == transfer; });
        if (same == groups.end()) {
            groups.push_back({kind, transfer});
        } else {
            same->kinds += ", " + kind;
        }
    }
    std::string out;
    if (!groups.empty()) {
        out = std::all_of(record.workloads.begin(), record.workloads.end(), by_published_rule)
                  ? "2^20 writes, at most 2G a trial (payload/sent): "
                  : "payload/sent in a trial: ";
    }
    for (const Group& group : groups) {
        out += fmt::format("{}{} {}", &group == groups.data() ? "" : "; ", group.kinds,
                           group.transfer);
    }
    const std::string requests = requests_text(record);
    if (!requests.empty()) {
        out += fmt::format("{}rtt {} requests", out.empty() ? "" : "; ", requests);
    }
    return out;
}

}  // namespace vsb::reports
