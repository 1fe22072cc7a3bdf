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

// In order of first appearance, headline tables first; rows in the comparison's order. Of an
// experiment only the headline metrics and what reviewers ask after them (the 99th percentile of
// RTT, instructions per byte) make tables; recv_calls stands beside its row. Of a file every metric
// does, counts (unit "1") excepted. The comparison must outlive the answer.
std::vector<Table> tables(const Comparison& comparison);

// The rows that no table holds, recv_calls among them.
std::vector<const Row*> rows_left_out(const Comparison& comparison);

}  // namespace vsb::reports
