#pragma once
// The bytes of a transfer: seeded, random, with a period of 65537. The period is prime and longer
// than any packet, so that a lost, repeated or swapped packet puts the stream out of step, and the
// table fits a second-level cache, so that making and checking bytes costs a copy and a memcmp,
// the same for every policy.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vsb::engine {

class Pattern {
  public:
    static constexpr std::size_t kPeriod = 65537;
    static constexpr std::size_t kLongest = 65536;  // of one piece

    explicit Pattern(std::uint64_t seed);
    const std::byte* at(std::size_t offset) const noexcept { return table_.data() + offset; }

  private:
    std::vector<std::byte> table_;
};

// A place in the endless stream of the pattern. Pieces of at most Pattern::kLongest bytes.
class PatternCursor {
  public:
    // `start`: how far into the stream.
    explicit PatternCursor(const Pattern& pattern, std::uint64_t start = 0) noexcept
        : pattern_(pattern), offset_(static_cast<std::size_t>(start % Pattern::kPeriod)) {}

    const std::byte* bytes() const noexcept { return pattern_.at(offset_); }
    void advance(std::size_t n) noexcept {
        offset_ += n;
        if (offset_ >= Pattern::kPeriod) offset_ -= Pattern::kPeriod;
    }
    // Compares and advances; `n` of any size.
    bool matches(const std::byte* data, std::size_t n) noexcept;

  private:
    const Pattern& pattern_;
    std::size_t offset_;
};

}  // namespace vsb::engine
