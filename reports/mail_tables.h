#pragma once
// The rows of result tables in mail text: quoted or not, with rows broken over lines, in plain or
// Markdown tables, or a change with its interval in running text.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/line_claims.h"

namespace vsb::reports {

// Whether a change lies at the middle of its interval on the log scale. Those of t and normal rules
// do; those of ranks and of the bootstrap need not.
enum class IntervalMade : std::uint8_t { unsaid, around_its_middle, otherwise };

struct FoundRow {
    Claim claim;
    std::size_t line = 0;       // from 1, where the row begins
    std::size_t paragraph = 0;  // rows of one table share it
    std::string caption;  // the nearest line above that ends in a colon, or a Markdown heading
    std::string heading;  // lines between caption and row, joined
    std::optional<std::size_t> pairs;          // as last said above: "16 balanced AB/BA pairs"
    double confidence = 0.95;                  // likewise: "(95% CI)"
    bool normal = false;                       // likewise: "normal-approximation intervals"
    IntervalMade made = IntervalMade::unsaid;  // by the heading; else likewise, or below
};

inline constexpr std::size_t kLongestMailLine = 4096;  // longer ones are passed over
inline constexpr std::size_t kLongestCaption = 200;

// Rows in order. A row that has a change alone is one only beside another of its paragraph. Pure;
// takes any bytes, in time linear in their number.
std::vector<FoundRow> mail_tables(std::string_view text);

}  // namespace vsb::reports
