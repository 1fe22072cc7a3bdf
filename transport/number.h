#pragma once
// Whole numbers as users and peers write them: decimal digits only, no sign, no blanks.

#include <cstdint>
#include <limits>
#include <string_view>

namespace vsb::transport {

// Throws std::invalid_argument saying what is wrong (empty, no number, out of low..high).
std::uint64_t parse_number(std::string_view text, std::uint64_t low = 0,
                           std::uint64_t high = std::numeric_limits<std::uint64_t>::max());

// Seconds with an optional fraction of at most nine digits ("2", "0.5") to ns; above 0.
// Throws std::invalid_argument.
std::uint64_t parse_seconds(std::string_view text);

}  // namespace vsb::transport
