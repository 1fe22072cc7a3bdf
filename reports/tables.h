#pragma once
// The rows of a comparison as tables: one per workload kind and metric.

#include <string>
#include <vector>

#include "reports/comparison.h"

namespace vsb::reports {

struct TableRow {
    const Row* row = nullptr;  // into the comparison
    // The same workload's recv_calls or, in a system without them, what its policies differ in
    // (locks or publications a packet); null when neither was recorded.
    const Row* count = nullptr;
    std::string payload;  // raw text, "64B", "64B batch=16" or a CSV's own name
};

struct Table {
    std::string kind;  // "fixed"; empty for names without one
    std::string metric;
    std::string unit;
    bool headline = false;
    std::vector<TableRow> rows;
};

// "recv()", "locks/packet": what the rows' counts are of; empty when no row has one.
std::string count_name(const Table& table);

// "normal": the method of the second intervals; empty when no row has any.
std::string beside_name(const Table& table);

// In order of first appearance, headline tables first; rows in the comparison's order. Of an
// experiment only the headline metrics and what reviewers ask after them (the 99th percentile of
// RTT, instructions per byte) make tables; a count stands beside its row. Of a file every metric
// does, counts (unit "1") excepted. The comparison must outlive the answer.
std::vector<Table> tables(const Comparison& comparison);

// The rows that no table holds, those that stand beside another among them.
std::vector<const Row*> rows_left_out(const Comparison& comparison);

}  // namespace vsb::reports
