#include "datasets/sample_blob.h"

#include <stdexcept>

namespace vsb::datasets {
namespace {

constexpr unsigned kBits = 7;
constexpr std::uint8_t kMore = 0x80;

}  // namespace

std::vector<std::uint8_t> encode_samples(std::span<const std::uint64_t> values) {
    std::vector<std::uint8_t> data;
    data.reserve(values.size() * 3);
    std::uint64_t before = 0;
    for (const std::uint64_t value : values) {
        // Modulo 2^64 on purpose: every 64-bit value comes back, whatever it follows.
        const std::uint64_t difference = value - before;
        const std::uint64_t negative = difference >> 63U;
        std::uint64_t rest = (difference << 1U) ^ (0 - negative);
        for (; rest >= kMore; rest >>= kBits) {
            data.push_back(static_cast<std::uint8_t>(rest | kMore));
        }
        data.push_back(static_cast<std::uint8_t>(rest));
        before = value;
    }
    return data;
}

std::vector<std::uint64_t> decode_samples(std::span<const std::uint8_t> data, std::uint64_t count) {
    // A value takes at least a byte, so a false count cannot make us reserve much.
    if (count > data.size()) throw std::invalid_argument("fewer samples than the block says");
    std::vector<std::uint64_t> values;
    values.reserve(count);
    std::uint64_t before = 0;
    std::size_t at = 0;
    while (values.size() < count) {
        std::uint64_t coded = 0;
        unsigned shift = 0;
        bool more = true;
        for (; more; ++at, shift += kBits) {
            if (at == data.size()) throw std::invalid_argument("a sample block is cut short");
            const std::uint64_t bits = data[at] & (kMore - 1U);
            if (shift > 63 || (shift == 63 && bits > 1)) {
                throw std::invalid_argument("a sample does not fit 64 bits");
            }
            coded |= bits << shift;
            more = (data[at] & kMore) != 0;
        }
        before += (coded >> 1U) ^ (0 - (coded & 1U));
        values.push_back(before);
    }
    if (at != data.size()) throw std::invalid_argument("more samples than the block says");
    return values;
}

}  // namespace vsb::datasets
