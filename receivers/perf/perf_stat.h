#pragma once
// What `perf stat -x SEP` and `perf stat -j` print, read strictly: for threads that are measured by
// the program perf (the vhost worker: perf stat -x , -e cycles,instructions -t TID). Formats: the
// CSV FORMAT and JSON FORMAT sections of perf-stat(1), the aggregate of all threads.

#include <string>
#include <string_view>
#include <vector>

#include "receivers/perf/counters.h"

namespace vsb::perf {

struct StatLine {
    std::string event;  // as printed, with its modifiers: "cycles:u"
    Count count;        // absent: not counted, not supported, or multiplexed, with the reason
    std::string unit;   // of count: empty, or ns for a clock (perf prints those in msec)
};

// Throw std::invalid_argument naming the line: malformed, an unknown marker, a value that is no
// whole number, more than 1000 lines, a JSON key twice, no event at all. Blank lines, lines that
// start with '#' and lines of a metric alone are passed over.
std::vector<StatLine> read_stat_csv(std::string_view text, char separator = ',');
std::vector<StatLine> read_stat_json(std::string_view text);

// The two counters of `lines`; one that is not there is absent with a reason. Throws
// std::invalid_argument for an event that is there twice.
Counts counts_of(const std::vector<StatLine>& lines);

}  // namespace vsb::perf
