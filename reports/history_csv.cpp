#include "reports/history_csv.h"

#include <fmt/format.h>

#include <iterator>

#include "reports/escape.h"
#include "reports/figures.h"

namespace vsb::reports {

std::string history_csv(const History& history) {
    std::string out =
        "workload,metric,unit,better,night,experiment,commit,change,ci_low,ci_high,confidence,se_"
        "log,"
        "pairs,changed\n";
    const std::string label = history.target == "model" ? "model/" : "";  // as an export's
    for (const HistoryWorkload& workload : history.workloads) {
        std::vector<std::string> changed(workload.points.size());
        for (const auto& change : workload.gate.changes)
            changed[workload.usable[change.index]] += "E";
        for (const auto& change : workload.pelt)
            changed[workload.usable[change.index]] += "P";
        const std::string name = fmt::format(
            "{},{},{},{}", csv_cell(label + workload.name), csv_cell(workload.metric),
            csv_cell(workload.unit), workload.better == stats::Better::higher ? "higher" : "lower");
        for (std::size_t i = 0; i < workload.points.size(); ++i) {
            const HistoryPoint& point = workload.points[i];
            const HistoryNight& night = history.nights[point.night];
            fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{},{},{},{}\n", name,
                           csv_cell(night.started), night.experiment, csv_cell(night.commit),
                           exact(point.change), exact(point.ci.low), exact(point.ci.high),
                           exact(history.options.confidence), exact(point.se), point.pairs,
                           changed[i]);
        }
    }
    return out;
}

}  // namespace vsb::reports
