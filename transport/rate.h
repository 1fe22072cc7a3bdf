#pragma once
// Bytes over a time as 10^9 bits a second.

#include <cstdint>
#include <optional>

namespace vsb::transport {

// nullopt when no time passed or no byte moved: there is no rate then.
inline std::optional<double> gbit_per_s(std::uint64_t bytes, std::uint64_t ns) {
    if (bytes == 0 || ns == 0) return std::nullopt;
    return static_cast<double>(bytes) * 8.0 / static_cast<double>(ns);
}

}  // namespace vsb::transport
