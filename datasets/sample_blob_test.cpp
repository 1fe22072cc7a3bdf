#include "datasets/sample_blob.h"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

namespace vsb::datasets {
namespace {

using Values = std::vector<std::uint64_t>;
using Bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t kMost = 18'446'744'073'709'551'615ULL;

TEST(SampleBlobTest, TheBytesAreThoseOfTheDocument) {
    EXPECT_EQ(encode_samples(Values{}), Bytes{});
    EXPECT_EQ(encode_samples(Values{0, 1, 0, 64, 0}), (Bytes{0, 2, 1, 0x80, 1, 0x7f}));
    EXPECT_EQ(encode_samples(Values{20'000}), (Bytes{0xc0, 0xb8, 0x02}));
    // The difference is -1 modulo 2^64.
    EXPECT_EQ(encode_samples(Values{kMost}), (Bytes{1}));
}

TEST(SampleBlobTest, EveryValueComesBack) {
    std::mt19937_64 random(1);
    for (int round = 0; round < 200; ++round) {
        Values values;
        for (std::uint64_t i = random() % 50; i > 0; --i) {
            values.push_back(random() >> (random() % 64));
        }
        values.insert(values.end(), {kMost, 0, std::uint64_t{1} << 63U, 0, kMost});
        EXPECT_EQ(decode_samples(encode_samples(values), values.size()), values);
    }
}

TEST(SampleBlobTest, DamageIsRefused) {
    const auto refuses = [](const Bytes& data, std::uint64_t count) {
        EXPECT_THROW(decode_samples(data, count), std::invalid_argument);
    };
    refuses({0, 2}, 1);
    refuses({0, 2}, 3);
    refuses({0, 0x82}, 2);
    refuses({}, 1);
    refuses({0}, 0);
    refuses({1}, kMost);
    refuses({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2}, 1);
    refuses({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x81, 0}, 1);
}

}  // namespace
}  // namespace vsb::datasets
