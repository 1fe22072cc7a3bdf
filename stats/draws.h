#pragma once
// Random draws that are the same everywhere: Boost.Random's 64-bit Mersenne Twister, and an index
// made of it by Lemire's multiplication with rejection, without bias.
// Source: Matsumoto and Nishimura 1998; Lemire 2019, ACM TOMACS 29(1):3.
// Only .cpp files include this header.

#include <boost/random/mersenne_twister.hpp>
#include <cstddef>
#include <cstdint>

namespace vsb::stats {

class Draws {
  public:
    explicit Draws(std::uint64_t seed) : engine_(seed) {}

    std::uint64_t word() { return engine_(); }

    // Uniform on 0 .. bound - 1; bound is at least 1 and at most 2^32.
    std::uint32_t below(std::uint64_t bound) {
        std::uint64_t product = half() * bound;
        if (static_cast<std::uint32_t>(product) < bound) {
            const auto threshold = static_cast<std::uint32_t>((kHalf - bound) % bound);
            while (static_cast<std::uint32_t>(product) < threshold)
                product = half() * bound;
        }
        return static_cast<std::uint32_t>(product >> 32);
    }

  private:
    static constexpr std::uint64_t kHalf = std::uint64_t{1} << 32;

    // Each word of the engine serves twice.
    std::uint64_t half() {
        if (have_half_) {
            have_half_ = false;
            return word_ >> 32;
        }
        word_ = engine_();
        have_half_ = true;
        return word_ & (kHalf - 1);
    }

    boost::random::mt19937_64 engine_;
    std::uint64_t word_ = 0;
    bool have_half_ = false;
};

// How many draws of `each` steps are affordable: `wanted`, but not more than 2e8 steps in all, and
// never under 999, which puts the least p at 0.001.
inline std::size_t affordable_draws(std::size_t wanted, std::size_t each) {
    const std::size_t affordable = std::size_t{200'000'000} / (each == 0 ? 1 : each);
    const std::size_t least = 999;
    return affordable < least ? least : affordable < wanted ? affordable : wanted;
}

}  // namespace vsb::stats
