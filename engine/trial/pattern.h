#pragma once
// What every packet's content must be, as a function of a seed and the packet's number. Both sides
// look it up in one table that nobody writes during a trial, so that a check is one memcmp.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vsb::engine::trial {

class Pattern {
  public:
    Pattern(std::uint64_t seed, std::size_t longest);

    // `longest` bytes; different numbers start at different places nearly always.
    const std::byte* of(std::uint64_t number) const noexcept {
        return table_.data() + mix(number) % kStarts;
    }

  private:
    static constexpr std::uint64_t kStarts = 4093;
    static std::uint64_t mix(std::uint64_t x) noexcept {  // finaliser of SplitMix64
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
        return x ^ (x >> 31);
    }

    std::vector<std::byte> table_;
};

}  // namespace vsb::engine::trial
