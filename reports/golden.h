#pragma once
// Golden files of the tests: reports/golden/NAME holds what a writer must answer.

#include <string>

namespace vsb::reports {

// Empty when `text` is the file's content. Else a diff by lines ('-' wanted, '+' got), after
// writing reports/golden/NAME.got beside it: look at it, and move it over the golden file if it is
// right.
std::string golden_diff(const std::string& name, const std::string& text);

}  // namespace vsb::reports
