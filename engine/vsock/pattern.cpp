#include "engine/vsock/pattern.h"

#include <algorithm>
#include <cstring>
#include <random>

namespace vsb::engine {

Pattern::Pattern(std::uint64_t seed) : table_(kPeriod + kLongest) {
    std::mt19937_64 random(seed);
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < kPeriod; ++i) {
        if (i % 8 == 0) word = random();
        table_[i] = static_cast<std::byte>(word & 0xff);
        word >>= 8;
    }
    std::copy_n(table_.begin(), kLongest, table_.begin() + kPeriod);
}

bool PatternCursor::matches(const std::byte* data, std::size_t n) noexcept {
    while (n != 0) {
        const std::size_t piece = std::min(n, Pattern::kLongest);
        if (std::memcmp(data, bytes(), piece) != 0) return false;
        advance(piece);
        data += piece;
        n -= piece;
    }
    return true;
}

}  // namespace vsb::engine
