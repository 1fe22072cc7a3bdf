#include "reports/letter_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/escape.h"
#include "reports/facts.h"
#include "reports/figures.h"
#include "reports/grid.h"
#include "reports/notes.h"
#include "reports/table_grid.h"
#include "reports/tables.h"
#include "reports/transfer.h"

namespace vsb::reports {
namespace {

constexpr std::size_t kColumns = kLetterColumns;
constexpr std::size_t kLongestText = 500;  // of one spec or one note
constexpr std::size_t kLabel = 13;         // width of "A, baseline" and a gap

struct Shape {
    std::string title;
    std::vector<GridColumn> columns;
};

// The published layouts, by workload kind.
Shape shape_of(const Comparison& comparison, const Table& table, const LetterNames& names) {
    const std::string confidence = fmt::format("({} CI)", plain_percent(comparison.confidence));
    const std::string unit = shorten(ascii(table.unit), kLongestName);
    const std::string metric = shorten(ascii(table.metric), kLongestName);
    const auto recv_size = [&](const char* kind) {
        return comparison.record ? recv_size_text(*comparison.record, kind) : std::string();
    };
    if (table.headline && table.metric == "packet_rate") {
        return {fmt::format("Packets dropped at the sink ({}):", unit),
                {{Cell::payload, "packets"},
                 {Cell::a, names.a},
                 {Cell::b, names.b},
                 {Cell::change, fmt::format("change {}", confidence)}}};
    }
    if (table.headline && table.metric == "throughput" && table.unit == "MB/s") {
        return {fmt::format("Throughput of all senders ({}):", unit),
                {{Cell::payload, "payload"},
                 {Cell::a, names.a},
                 {Cell::b, names.b},
                 {Cell::change, fmt::format("change {}", confidence)},
                 {Cell::p, "p", 1}}};
    }
    if (table.kind == "fixed" && table.metric == "throughput") {
        const std::string size = recv_size("fixed");
        return {fmt::format("End-to-end RX throughput ({}{}):",
                            size.empty() ? "" : size + " recv() size; ", unit),
                {{Cell::payload, "payload"},
                 {Cell::a, fmt::format("{} RX\n({})", names.a, unit)},
                 {Cell::b, fmt::format("{} RX\n({})", names.b, unit)},
                 {Cell::change, fmt::format("throughput change {}", confidence)}}};
    }
    if (table.kind == "matched" && table.metric == "throughput") {
        return {
            fmt::format("Fixed-syscall stress test (receiver recv() size = sender write size; {}):",
                        unit),
            {{Cell::payload, "payload"},
             {Cell::a, names.a + "\nRX"},
             {Cell::b, names.b + "\nRX"},
             {Cell::change, fmt::format("throughput change {}", confidence)},
             {Cell::count, fmt::format("recv()\n({})", names.pair), 1}}};
    }
    if (table.kind == "rtt" && table.headline) {
        const std::string requests = comparison.record ? requests_text(*comparison.record) : "";
        return {fmt::format("Request-response latency (Ping-Pong RTT{}):",
                            requests.empty() ? "" : ", " + requests + " requests"),
                {{Cell::payload, "payload"},
                 {Cell::a, fmt::format("{} mean\nRTT ({})", names.a, unit)},
                 {Cell::b, fmt::format("{} mean\nRTT ({})", names.b, unit)},
                 {Cell::change, fmt::format("change {}", confidence)}}};
    }
    if (table.kind == "cycles" && table.headline && table.metric == "cycles_per_byte") {
        const std::string size = recv_size("cycles");
        return {fmt::format("RX worker cycles per received byte{}:",
                            size.empty() ? "" : " (fixed " + size + " recv() size)"),
                {{Cell::payload, "payload"},
                 {Cell::a, fmt::format("{}\n{}", names.a, unit)},
                 {Cell::b, fmt::format("{}\n{}", names.b, unit)},
                 {Cell::change, fmt::format("cycles change {}", confidence)}}};
    }
    std::string title = shorten(ascii(table.kind), kLongestName);
    if (!title.empty()) title += ": ";
    title += metric;
    if (!unit.empty()) title += fmt::format(" ({})", unit == "1" ? "count" : unit);
    return {title + ":",
            {{Cell::payload, table.kind.empty() ? "workload" : "payload"},
             {Cell::a, names.a},
             {Cell::b, names.b},
             {Cell::change, fmt::format("change {}", confidence)}}};
}

// "16/16 at 64B, 256B; 15/16 at 1K": what the table has no room for.
std::string below(const Table& table, Cell cell, const std::string& before) {
    struct Group {
        std::string value;
        std::string payloads;
    };
    std::vector<Group> groups;
    for (const TableRow& entry : table.rows) {
        const std::string value = cell_text(entry, table.unit, cell);
        const std::string payload = shorten(ascii(entry.payload), kLongestName);
        const auto same = std::find_if(groups.begin(), groups.end(),
                                       [&](const Group& g) { return g.value == value; });
        if (same == groups.end()) {
            groups.push_back({value, payload});
        } else {
            same->payloads += ", " + payload;
        }
    }
    std::string list;
    for (const Group& group : groups) {
        if (!list.empty()) list += "; ";
        list += fmt::format("{} at {}", group.value, group.payloads);
    }
    if (groups.size() == 1 && table.rows.size() > 1) list = groups.front().value + " in every row";
    return wrap(before + list, kColumns, "  ", "    ");
}

std::string table_text(const Comparison& comparison, const Table& table, const LetterNames& names) {
    const Shape shape = shape_of(comparison, table, names);
    const Drawn drawn = draw(grid_of(table, shape.columns), kColumns);
    std::string out =
        wrap(model_tag(comparison) + shape.title, kColumns) + "\n" + drawn.text + "\n";
    out += below(table, Cell::faster, fmt::format("pairs in which {} was better: ", names.b));
    const auto any = [&](auto has) {
        return std::any_of(table.rows.begin(), table.rows.end(), has);
    };
    if (any([](const TableRow& e) { return e.row->simultaneous.has_value(); })) {
        out += below(table, Cell::simultaneous, "interval for all rows at once: ");
    }
    if (!comparison.interim &&
        any([](const TableRow& e) { return e.row->p_adjusted.has_value(); })) {
        out += below(table, Cell::p, p_head(comparison, table) + ": ");
    }
    const std::string count = count_name(table);
    const auto in_table = std::find_if(shape.columns.begin(), shape.columns.end(),
                                       [](const GridColumn& c) { return c.cell == Cell::count; });
    const bool count_shown =
        in_table != shape.columns.end() &&
        drawn.shown[static_cast<std::size_t>(in_table - shape.columns.begin())];
    if (!count.empty() && !count_shown) {
        out += below(table, Cell::count, fmt::format("{} ({}): ", count, names.pair));
    }
    if (const std::string beside = beside_name(table); !beside.empty()) {
        const std::vector<GridColumn> columns = {
            {Cell::payload, "payload"},
            {Cell::beside,
             fmt::format("{} {} interval", beside, plain_percent(comparison.confidence))}};
        out += "\n" + draw(grid_of(table, columns), kColumns).text;
    }
    return out;
}

}  // namespace

std::string letter_model(const Comparison& comparison) {
    if (model_tag(comparison).empty()) return "";
    return wrap(model_tag(comparison) +
                    "nothing here was measured. A virtual clock added named costs up; the order of "
                    "the figures may carry over to a machine, their size does not.",
                kColumns) +
           "\n";
}

std::string letter_facts(const std::vector<Fact>& facts) {
    std::string out;
    for (const Fact& fact : facts) {
        out += wrap(shorten(ascii(fact.text), kLongestText), kColumns,
                    fmt::format("  {:<{}}", fact.label, kLabel), std::string(kLabel + 2, ' '));
    }
    return out;
}

std::string letter_notes(const Comparison& comparison) {
    const std::vector<Note> all = notes(comparison);
    if (all.empty()) return "";
    std::string out = "\nTo keep in mind:\n\n";
    for (const Note& note : all) {
        if (note.code == "interim") continue;  // said at the top
        out += wrap(shorten(ascii(note.text), kLongestText), kColumns, "  - ", "    ");
    }
    return out;
}

std::string letter_tables(const Comparison& comparison, const LetterNames& names) {
    std::string out;
    for (const Table& table : tables(comparison)) {
        if (!comparison.record || table.headline)
            out += "\n" + table_text(comparison, table, names);
    }
    return out;
}

}  // namespace vsb::reports
