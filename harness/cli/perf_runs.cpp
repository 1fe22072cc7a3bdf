#include "harness/cli/perf_runs.h"

#include <algorithm>
#include <array>
#include <set>

#include "datasets/csv_fields.h"
#include "datasets/import_error.h"
#include "receivers/perf/perf_stat.h"

namespace vsb::cli {
namespace {

using datasets::ForeignFile;
using datasets::ForeignRun;
using datasets::ImportError;

// The separator that parts the first event's line into the most fields.
char separator_of(std::string_view text) {
    while (text.starts_with('#') || text.starts_with('\n') || text.starts_with('\r')) {
        text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    }
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::array<char, 4> separators = {',', ';', '|', '\t'};
    return *std::ranges::max_element(
        separators, {}, [line](char separator) { return std::ranges::count(line, separator); });
}

ForeignFile file_of(const std::vector<perf::StatLine>& lines, const std::string& name,
                    const char* format) {
    ForeignFile file;
    file.format = format;
    ForeignRun run;
    run.workload.name = run.workload.kind = "perf-stat";
    std::set<std::string> events;
    for (const perf::StatLine& line : lines) {
        if (const auto why = datasets::text_fault(line.event)) {
            throw ImportError(name + ": the name of an event: " + *why);
        }
        if (!events.insert(line.event).second) {
            throw ImportError(name + ": event " + datasets::in_quotes(line.event) +
                              " is there twice (count the whole, without -A, -I and --per-*)");
        }
        if (!line.count.value) {
            file.notes.push_back(line.event + ": " + line.count.reason);
        } else if (run.measurements.empty() && *line.count.value == 0) {
            file.notes.push_back(line.event + ": zero, and so not the headline");
        } else {
            run.measurements.push_back({line.event, line.unit.empty() ? "1" : line.unit,
                                        static_cast<double>(*line.count.value)});
        }
    }
    if (run.measurements.empty()) {
        throw ImportError(name + ": no event was counted (" + file.notes.front() + ")");
    }
    file.runs.push_back(std::move(run));
    return file;
}

std::vector<perf::StatLine> named(const std::string& name, auto read) {
    try {
        return read();
    } catch (const std::invalid_argument& error) {
        throw ImportError(name + ": " + error.what());
    }
}

}  // namespace

ForeignFile read_perf_stat(std::string_view text, const std::string& name) {
    return file_of(named(name, [&] { return perf::read_stat_csv(text, separator_of(text)); }), name,
                   "perf-stat");
}

ForeignFile read_perf_stat_json(std::string_view text, const std::string& name) {
    return file_of(named(name, [&] { return perf::read_stat_json(text); }), name, "perf-stat-json");
}

}  // namespace vsb::cli
