#include "harness/cli/gate.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "harness/value_text.h"

namespace vsb::cli {
namespace {

constexpr std::array<stats::Verdict, 4> kVerdicts{stats::Verdict::faster, stats::Verdict::slower,
                                                  stats::Verdict::equivalent,
                                                  stats::Verdict::inconclusive};

}  // namespace

std::vector<stats::Verdict> parse_gate(std::string_view text) {
    std::vector<stats::Verdict> verdicts;
    for (const std::string& name : harness::split_list(text)) {
        const auto at = std::ranges::find(kVerdicts, name, stats::verdict_name);
        if (at == kVerdicts.end()) {
            throw std::invalid_argument("'" + name +
                                        "' is no verdict (choose from faster, slower, equivalent, "
                                        "inconclusive)");
        }
        verdicts.push_back(*at);
    }
    if (verdicts.empty()) throw std::invalid_argument("names no verdict");
    return verdicts;
}

std::vector<std::string> gate_failures(const reports::Comparison& comparison,
                                       const std::vector<std::string>& workloads,
                                       const std::vector<stats::Verdict>& fail_on) {
    std::vector<std::string> failures;
    const auto headline_of = [&](const std::string& workload) {
        return std::ranges::find_if(comparison.rows, [&](const reports::Row& row) {
            return row.headline && row.workload == workload;
        });
    };
    for (const std::string& workload : workloads) {
        const auto row = headline_of(workload);
        if (row == comparison.rows.end()) {
            failures.push_back(workload + " has no verdict");
        } else if (std::ranges::find(fail_on, row->result.verdict) != fail_on.end()) {
            failures.push_back(workload + " is " +
                               std::string(stats::verdict_name(row->result.verdict)));
        }
    }
    if (workloads.empty()) failures.emplace_back("nothing was compared");
    return failures;
}

}  // namespace vsb::cli
