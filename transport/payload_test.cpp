#include "transport/payload.h"

#include <gtest/gtest.h>

#include <cstring>

namespace vsb::transport {
namespace {

TEST(Payload, EveryByteFollowsFromItsOffset) {
    const Payload small(7, 64);
    const Payload large(7, 1 << 20);
    for (std::uint64_t offset = 0; offset < 100000; offset += 37) {
        EXPECT_EQ(std::memcmp(small.at(offset), large.at(0) + offset, 64), 0) << offset;
    }
}

TEST(Payload, ALostOrExchangedWriteShows) {
    const Payload payload(1, 65536);
    for (const std::size_t size : {64, 256, 512, 1024, 4096, 8192, 16384, 65536}) {
        EXPECT_FALSE(payload.first_difference(size, payload.at(size), size));
        EXPECT_TRUE(payload.first_difference(0, payload.at(size), size)) << size;
    }
}

TEST(Payload, NamesTheFirstWrongByte) {
    const Payload payload(1, 100);
    std::vector<std::byte> copy(payload.at(5), payload.at(5) + 100);
    copy[42] ^= std::byte{1};
    copy[50] ^= std::byte{1};
    EXPECT_EQ(payload.first_difference(5, copy.data(), 100), 42u);
}

TEST(Payload, SeedsDiffer) {
    EXPECT_TRUE(Payload(1, 64).first_difference(0, Payload(2, 64).at(0), 64));
}

}  // namespace
}  // namespace vsb::transport
