#pragma once
// The pieces cover letters are made of, each plain ASCII within 72 columns.

#include <string>
#include <vector>

#include "reports/comparison.h"
#include "reports/facts.h"

namespace vsb::reports {

inline constexpr std::size_t kLetterColumns = 72;

// What the two states are called in headings.
struct LetterNames {
    std::string a = "baseline";
    std::string b = "PATCH";
    std::string pair = "base/patch";  // above recv() counts
};

// The first paragraph of a model's letter; empty for a measurement.
std::string letter_model(const Comparison& comparison);

std::string letter_facts(const std::vector<Fact>& facts);

// "To keep in mind:" and the notes; empty when there are none.
std::string letter_notes(const Comparison& comparison);

// The tables in the published layout, each with a blank line before it.
std::string letter_tables(const Comparison& comparison, const LetterNames& names);

}  // namespace vsb::reports
