#pragma once
// The performance section of a patch series' cover letter: several experiments, each of two states
// of the series, in one text. A series of five patches is shown as baseline against all of it, and
// in steps: baseline against the first three, the first three against all five.

#include <string>
#include <vector>

#include "reports/comparison.h"

namespace vsb::reports {

struct SeriesPart {
    Comparison comparison;  // with its record
    std::string a;          // what its states are called: "baseline", "P1-P3"
    std::string b;
};

// Plain ASCII, no line over 72 columns: the states by name, what holds of every part once, and then
// each part with what holds of it alone, its notes and its tables. Throws std::invalid_argument for
// a name that is empty, longer than 16 characters or not printable ASCII, one name for states of
// different SPECs, one SPEC under two names, a part without a record, and no part at all.
std::string series_letter(const std::vector<SeriesPart>& parts);

}  // namespace vsb::reports
