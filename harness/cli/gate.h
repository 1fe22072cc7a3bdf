#pragma once
// --fail-on: which verdicts make a comparison fail. Judged on headline rows only: a count that
// changed is not a regression by itself.

#include <string>
#include <string_view>
#include <vector>

#include "reports/comparison.h"

namespace vsb::cli {

// "slower,inconclusive" -> verdicts. Throws std::invalid_argument naming those there are.
std::vector<stats::Verdict> parse_gate(std::string_view text);

// What failed, one text a workload; empty when the gate passed. A workload that was to be measured
// and has no verdict (too few whole pairs, a zero) fails every gate, and so does a comparison
// without any row: what could not be judged has not passed.
std::vector<std::string> gate_failures(const reports::Comparison& comparison,
                                       const std::vector<std::string>& workloads,
                                       const std::vector<stats::Verdict>& fail_on);

}  // namespace vsb::cli
