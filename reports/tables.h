#pragma once
// The rows of a comparison as tables: one per workload kind and metric.

#include <string>
#include <vector>

#include "reports/comparison.h"

namespace vsb::reports {

struct TableRow {
    const Row* row = nullptr;   // into the comparison
    const Row* recv = nullptr;  // the same workload's recv_calls; null when not recorded
    std::string payload;        // raw text, "64B" or a CSV's own name
};

struct Table {
    std::string kind;  // "fixed"; empty for names without one
    std::string metric;
    std::string unit;
    bool headline = false;
    std::vector<TableRow> rows;
};

// In order of first appearance, headline tables first; rows in the comparison's order. Counts
// (unit "1") that are not the headline make no table: recv_calls stands beside its row, the others
// are explanation, not result. The comparison must outlive the answer.
std::vector<Table> tables(const Comparison& comparison);

// Names of the metrics that tables() leaves out (recv_calls excepted), in order, each once.
std::vector<std::string> counts_left_out(const Comparison& comparison);

}  // namespace vsb::reports
