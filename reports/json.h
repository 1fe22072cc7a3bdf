#pragma once
// A comparison for programs.

#include <string>

#include "reports/comparison.h"

namespace vsb::reports {

// One JSON object, schema "vsockbench.comparison/1" (comparison.schema.json describes it), ending
// in a newline. Fractions, not percent; a number that does not exist is null, and so is every
// p-value of an interim comparison. ASCII: other characters are \u escapes, bytes that are not
// UTF-8 are U+FFFD.
std::string json(const Comparison& comparison);

}  // namespace vsb::reports
