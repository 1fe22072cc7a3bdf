#pragma once
// A row's verdict as the result of a test, for the formats of test runners.

#include <string>

#include "reports/comparison.h"

namespace vsb::reports {

struct Judgement {
    enum class Result { pass, fail, skip };
    Result result = Result::skip;
    std::string why;  // "slower: -2.41% [-3.88%, -0.92%]"; ours, ASCII
};

// slower: fail. faster, equivalent: pass. inconclusive: fail with a margin, since the row was not
// shown to stay inside it; skip without one, since nothing was claimed. A whole interim comparison
// is skipped: its rows are no results yet.
Judgement judge(const Comparison& comparison, const Row& row);

}  // namespace vsb::reports
