#include "reports/batch_ends.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace vsb::reports {
namespace {

constexpr std::string_view kPrefix = "batch_end_";
constexpr double kLeastShare = 0.005;

struct Ends {
    double batches = 0;
    double packets = 0;
    std::vector<std::pair<std::string, double>> reasons;

    void take(std::string_view metric, double value) {
        if (metric == "batches") batches = value;
        if (metric == "batched_packets") packets = value;
        if (!metric.starts_with(kPrefix)) return;
        std::string reason(metric.substr(kPrefix.size()));
        std::ranges::replace(reason, '_', '-');
        reasons.emplace_back(std::move(reason), value);
    }
};

}  // namespace

std::string batch_ends(const Comparison& comparison, std::string_view workload, bool of_a) {
    Ends ends;
    // A count that was zero in some trial has means and no row.
    for (const MeansOnly& means : comparison.means) {
        if (means.workload == workload) ends.take(means.metric, of_a ? means.a : means.b);
    }
    for (const Row& row : comparison.rows) {
        if (row.workload == workload) ends.take(row.metric, of_a ? row.result.a : row.result.b);
    }
    double all = 0;
    for (const auto& [reason, count] : ends.reasons)
        all += count;
    if (!(ends.batches > 0) || !(all > 0)) return {};
    std::ranges::stable_sort(ends.reasons, std::ranges::greater{},
                             &std::pair<std::string, double>::second);
    std::string text = fmt::format("mean {:.1f} packets;", ends.packets / ends.batches);
    const char* comma = " ";
    for (const auto& [reason, count] : ends.reasons) {
        if (count < kLeastShare * all) break;
        text += fmt::format("{}{} {:.0f}%", comma, reason, 100 * count / all);
        comma = ", ";
    }
    return text;
}

}  // namespace vsb::reports
