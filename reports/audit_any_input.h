#pragma once
// What must hold of the audit for any bytes whatever: shared by the fuzzer and by the test that
// mutates without one.

#include <string>

namespace vsb::reports {

// Empty when all that must hold holds; otherwise what does not: nothing is thrown, rows stand on
// lines that there are and in order, verdicts are counted, an inconsistent row has a reason, text
// is plain ASCII of one line a line, JSON is valid.
std::string broken_promise(const std::string& input);

}  // namespace vsb::reports
