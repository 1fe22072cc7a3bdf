#pragma once
// Numbers in other programs' text, read strictly: the whole text must be the number.

#include <cstdint>
#include <optional>
#include <string_view>

namespace vsb::datasets {

// A finite decimal number ("0.05", "1e-3"); nullopt for anything else: nan, inf, 1e999, a sign of
// plus, hexadecimal, blanks.
std::optional<double> finite_decimal(std::string_view text);

// Decimal digits only, up to 2^63 - 1.
std::optional<std::int64_t> whole_number(std::string_view text);

}  // namespace vsb::datasets
