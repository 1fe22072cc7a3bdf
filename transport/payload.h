#pragma once
// The bytes of a stream, so that the receiver knows every one of them from its offset: byte i is
// table[i mod kPeriod], and the table comes from a seed. The period is a prime just under 4 KiB: no
// write size divides into it, so that a lost, repeated or exchanged write shows.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace vsb::transport {

class Payload {
  public:
    static constexpr std::size_t kPeriod = 4093;

    // `longest`: of the runs at() is asked for.
    Payload(std::uint64_t seed, std::size_t longest);

    // `longest` bytes of the stream from `offset` on.
    const std::byte* at(std::uint64_t offset) const { return &table_[offset % kPeriod]; }
    // For loops that keep the phase (offset mod kPeriod) themselves.
    const std::byte* at_phase(std::size_t phase) const { return &table_[phase]; }

    // Index of the first of `size` bytes that is not the stream's at `offset`; size <= longest.
    std::optional<std::size_t> first_difference(std::uint64_t offset, const std::byte* data,
                                                std::size_t size) const;

  private:
    std::vector<std::byte> table_;
};

}  // namespace vsb::transport
