#pragma once
// How raw samples are kept: each value's difference from the one before (from 0 for the first),
// zigzag (0, -1, 1, -2 -> 0, 1, 2, 3), in bytes of 7 bits, low first, the high bit set on all but
// the last. Round-trip times take 2 to 3 bytes instead of 8.

#include <cstdint>
#include <span>
#include <vector>

namespace vsb::datasets {

std::vector<std::uint8_t> encode_samples(std::span<const std::uint64_t> values);

// Throws std::invalid_argument when data is not exactly `count` values.
std::vector<std::uint64_t> decode_samples(std::span<const std::uint8_t> data, std::uint64_t count);

}  // namespace vsb::datasets
