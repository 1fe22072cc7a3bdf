#pragma once
// The small values of options and experiment files, read strictly: the whole text must be the
// value. Every function throws std::invalid_argument saying what is wrong with the text; the caller
// adds the option's or the key's name.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vsb::harness {

// Decimal digits only: no sign, no base prefix ("010" is ten), no suffix.
std::uint64_t parse_count(std::string_view text);

// A finite decimal number ("0.05", "1e-3"); no nan, no inf, no overflow.
double parse_number(std::string_view text);

// "2%" or "0.02" -> 0.02.
double parse_fraction(std::string_view text);

// "500ms", "30s", "2m", or plain seconds ("1.5") -> ns. At least 1 ms, at most a day.
std::int64_t parse_duration_ns(std::string_view text);

// The shortest text that reads back as the same number.
std::string number_text(double value);

// "a,b,c" -> its items; an empty item is an error, an empty text is no items.
std::vector<std::string> split_list(std::string_view text);

// "k=v,k=v" -> its items in order; a missing '=', an empty or a repeated key is an error.
std::vector<std::pair<std::string, std::string>> split_assignments(std::string_view text);

}  // namespace vsb::harness
