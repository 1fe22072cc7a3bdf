#include "transport/payload.h"

#include <cstring>

namespace vsb::transport {

Payload::Payload(std::uint64_t seed, std::size_t longest) : table_(kPeriod + longest) {
    // splitmix64 (Steele, Lea, Flood 2014), its low byte.
    std::uint64_t state = seed;
    for (std::size_t i = 0; i < kPeriod; ++i) {
        state += 0x9e3779b97f4a7c15u;
        std::uint64_t z = state;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        table_[i] = static_cast<std::byte>((z ^ (z >> 31)) & 0xff);
    }
    for (std::size_t i = kPeriod; i < table_.size(); ++i)
        table_[i] = table_[i - kPeriod];
}

std::optional<std::size_t> Payload::first_difference(std::uint64_t offset, const std::byte* data,
                                                     std::size_t size) const {
    const std::byte* expected = at(offset);
    if (std::memcmp(expected, data, size) == 0) return std::nullopt;
    std::size_t i = 0;
    while (expected[i] == data[i])
        ++i;
    return i;
}

}  // namespace vsb::transport
