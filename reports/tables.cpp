#include "reports/tables.h"

#include <algorithm>
#include <string_view>

#include "reports/workload_name.h"

namespace vsb::reports {
namespace {

constexpr std::string_view kRecv = "recv_calls";

// What a reviewer asks after the headline. The rest of what an experiment records explains a
// change; a file's metrics are there because somebody put them there.
bool is_asked_for(const std::string& metric) {
    return metric == "rtt_p99" || metric == "instructions_per_byte";
}

bool has_table(const Comparison& comparison, const Row& row) {
    if (row.headline) return true;
    return row.unit != "1" && (!comparison.record || is_asked_for(row.metric));
}

const Row* recv_of(const Comparison& comparison, const Row& row) {
    if (!row.headline || row.metric == kRecv) return nullptr;
    const auto found =
        std::find_if(comparison.rows.begin(), comparison.rows.end(), [&](const Row& other) {
            return other.metric == kRecv && other.unit == "1" && other.workload == row.workload;
        });
    return found == comparison.rows.end() ? nullptr : &*found;
}

}  // namespace

std::vector<Table> tables(const Comparison& comparison) {
    std::vector<Table> out;
    for (const Row& row : comparison.rows) {
        if (!has_table(comparison, row)) continue;
        const WorkloadName name = parse_workload(row.workload);
        auto table = std::find_if(out.begin(), out.end(), [&](const Table& other) {
            return other.kind == name.kind && other.metric == row.metric &&
                   other.unit == row.unit && other.headline == row.headline;
        });
        if (table == out.end()) {
            out.push_back({name.kind, row.metric, row.unit, row.headline, {}});
            table = std::prev(out.end());
        }
        table->rows.push_back({&row, recv_of(comparison, row), name.payload});
    }
    std::stable_partition(out.begin(), out.end(), [](const Table& t) { return t.headline; });
    return out;
}

std::vector<const Row*> rows_left_out(const Comparison& comparison) {
    std::vector<const Row*> rows;
    for (const Row& row : comparison.rows) {
        if (!has_table(comparison, row)) rows.push_back(&row);
    }
    return rows;
}

}  // namespace vsb::reports
