#include "reports/ktap.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/escape.h"
#include "reports/judgement.h"
#include "reports/notes.h"
#include "reports/table_grid.h"

namespace vsb::reports {
namespace {

constexpr std::size_t kLongestText = 400;

// A '#' in a description starts a directive.
std::string name_of(const Row& row) {
    std::string name = shorten(ascii(row.workload + " " + row.metric), 2 * kLongestName);
    std::replace(name.begin(), name.end(), '#', '_');
    return name;
}

}  // namespace

std::string ktap(const Comparison& comparison) {
    std::string tests;
    std::size_t number = 0;
    for (const Row& row : comparison.rows) {
        if (!row.headline) continue;
        const Judgement judgement = judge(comparison, row);
        const bool failed = judgement.result == Judgement::Result::fail;
        const bool skipped = judgement.result == Judgement::Result::skip;
        tests += fmt::format("# {}\n{} {} {}{}\n", judgement.why, failed ? "not ok" : "ok",
                             ++number, name_of(row), skipped ? " # SKIP not decided" : "");
    }
    std::string out = fmt::format("KTAP version 1\n1..{}\n", number);
    for (const Note& note : notes(comparison)) {
        out += fmt::format("# {}\n", shorten(ascii(note.text), kLongestText));
    }
    return out + tests;
}

}  // namespace vsb::reports
