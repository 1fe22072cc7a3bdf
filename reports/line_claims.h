#pragma once
// What one line of mail text claims: a label, means, a change and its interval.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace vsb::reports {

struct PlainMean {
    std::string number;  // "0.1290", "45%"
    std::string unit;    // "Mpps", empty where none stands beside it
};

// One printed change; empty texts for what does not stand there. Numbers as printed.
struct Claim {
    std::string label;
    std::vector<PlainMean> means;  // every plain number between the label and the change, in order
    std::string pair_a;            // "331/68" there
    std::string pair_b;
    std::string change;  // "+92.91%"
    std::string low;
    std::string high;
    std::size_t pairs = 0;  // "8+8" behind it; 0 where that does not stand there
};

struct LineClaims {
    std::vector<Claim> claims;  // those with a change or an interval
    Claim rest;                 // the label, and what stands behind the last change or without one
    bool figures = false;       // any, beside the label
    bool prose = false;         // words stand among them
    bool open = false;          // a bracket is not closed
};

// The line without marks of quotation. A percentage is a change when it has a sign or an interval
// follows it; others are figures like any. Pure; takes any bytes, in time linear in their number.
LineClaims line_claims(std::string_view line);

}  // namespace vsb::reports
