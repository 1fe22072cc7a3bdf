#pragma once
// What the reader must know before believing a table, gathered from the whole comparison and said
// once per matter instead of once per row.

#include <string>
#include <vector>

#include "reports/comparison.h"

namespace vsb::reports {

struct Note {
    std::string code;  // stable: the warning's own, "interim", "interval-holds-0", "within-margin"
    std::string text;  // one sentence, raw: escape it
};

// The comparison's warnings, then those of rows that have a table (one note a code, naming the
// rows), then which headline intervals hold 0. Zero variance of counts is no news and left out, and
// so is a secondary metric's repetition of its workload's warning.
std::vector<Note> notes(const Comparison& comparison);

// Rows as a reader names them: "fixed/64B,1K, all rtt rows". Every row is one of the comparison's.
std::string rows_text(const Comparison& comparison, const std::vector<const Row*>& rows);

}  // namespace vsb::reports
