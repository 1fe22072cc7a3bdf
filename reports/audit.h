#pragma once
// Are printed tables consistent? Finds the rows of result tables in mail text and holds each to
// stats/published_row.h.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stats/published_row.h"

namespace vsb::reports {

struct AuditOptions {
    std::optional<std::size_t> pairs;  // of every row; else what the text says, else no se and p
    std::optional<double> confidence;  // of the intervals; else what the text says, else 0.95
    std::optional<stats::PublishedMethod> method;  // else crossover-t, or normal where it says so
};

struct AuditedRow {
    std::string label;    // raw text, escape it
    std::string caption;  // likewise; empty where there is none
    std::size_t line = 0;
    std::string change;  // as printed: "+92.91%"; empty where none is
    stats::PublishedRow printed;
    std::optional<std::size_t> pairs;
    stats::RowCheck check;  // its reason names the values that would agree
};

struct Audit {
    std::vector<AuditedRow> rows;
    std::size_t consistent = 0;
    std::size_t inconsistent = 0;
    std::size_t not_checkable = 0;
};

// Any text, in time linear in its size. Throws std::invalid_argument for a confidence outside
// (0, 1). Means are checked where it is clear which numbers they are: two before the change, or a
// pair like 331/68; of more than two, those that agree with it, and none when none do.
// A row whose interval the text says was made from ranks or by resampling is not checkable.
Audit audit(std::string_view text, const AuditOptions& options = {});

}  // namespace vsb::reports
