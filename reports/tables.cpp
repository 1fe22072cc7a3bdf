#include "reports/tables.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "reports/workload_name.h"

namespace vsb::reports {
namespace {

struct CountName {
    std::string_view metric;
    const char* shown;
};

// What explains a change at a glance, the first one recorded.
constexpr std::array<CountName, 3> kCounts{{{"recv_calls", "recv()"},
                                            {"publications_per_packet", "publications/packet"},
                                            {"locks_per_packet", "locks/packet"}}};

// What a reviewer asks after the headline. The rest of what an experiment records explains a
// change; a file's metrics are there because somebody put them there.
bool is_asked_for(const std::string& metric) {
    return metric == "rtt_p99" || metric == "instructions_per_byte" ||
           metric == "instructions_per_gib" || metric == "busy_instructions_per_byte";
}

bool has_table(const Comparison& comparison, const Row& row) {
    if (row.headline) return true;
    return row.unit != "1" && (!comparison.record || is_asked_for(row.metric));
}

const Row* count_of(const Comparison& comparison, const Row& row) {
    if (!row.headline) return nullptr;
    for (const CountName& count : kCounts) {
        if (row.metric == count.metric) return nullptr;
        const auto found =
            std::find_if(comparison.rows.begin(), comparison.rows.end(), [&](const Row& other) {
                return other.metric == count.metric && other.unit.rfind('1', 0) == 0 &&
                       other.workload == row.workload;
            });
        if (found != comparison.rows.end()) return &*found;
    }
    return nullptr;
}

}  // namespace

std::string count_name(const Table& table) {
    for (const TableRow& entry : table.rows) {
        if (entry.count == nullptr) continue;
        return std::find_if(
                   kCounts.begin(), kCounts.end(),
                   [&](const CountName& count) { return entry.count->metric == count.metric; })
            ->shown;
    }
    return "";
}

std::string beside_name(const Table& table) {
    for (const TableRow& entry : table.rows) {
        if (entry.row->beside) return std::string(stats::method_name(entry.row->beside->method));
    }
    return "";
}

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
        table->rows.push_back({&row, count_of(comparison, row), name.label()});
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
