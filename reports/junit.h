#pragma once
// A comparison as test results for CI servers.

#include <string>

#include "reports/comparison.h"

namespace vsb::reports {

// JUnit XML, one test case per headline row, judged as ktap() judges them.
std::string junit(const Comparison& comparison);

}  // namespace vsb::reports
