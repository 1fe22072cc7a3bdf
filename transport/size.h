#pragma once
// Sizes as users type them: a whole number and an optional K, M, G, T, P or E in either case,
// powers of 1024.

#include <cstdint>
#include <string>
#include <string_view>

namespace vsb::transport {

// "64K" -> 65536. Throws std::invalid_argument saying what is wrong with the text (empty, sign,
// fraction, unknown suffix, overflow); the caller names the option.
std::uint64_t parse_size(std::string_view text);

// The spelling of the mailing lists: 64B, 1K, 64K, 2M; exact, or plain bytes (1500B).
std::string format_size(std::uint64_t bytes);

}  // namespace vsb::transport
