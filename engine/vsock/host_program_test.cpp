#include "engine/vsock/host_program.h"

#include <gtest/gtest.h>

#include <vector>

namespace vsb::engine {
namespace {

class PingPongTest : public testing::Test {
  protected:
    // One request, as bytes.
    std::vector<std::byte> request(std::uint32_t n) {
        std::vector<std::byte> bytes(n);
        EXPECT_EQ(client.next_write(), n);
        client.put(bytes.data(), n);
        return bytes;
    }
    Pattern pattern{3};
    PingPong client{pattern, 100, 1, 2};
};

TEST_F(PingPongTest, SendsTheNextRequestOnlyAfterTheWholeEcho) {
    for (int i = 0; i < 3; ++i) {
        const auto bytes = request(100);
        EXPECT_EQ(client.next_write(), 0U);
        client.got(bytes.data(), 60);
        EXPECT_EQ(client.next_write(), 0U);
        EXPECT_FALSE(client.finished());
        client.got(bytes.data() + 60, 40);
    }
    EXPECT_TRUE(client.finished());
    EXPECT_EQ(client.next_write(), 0U);
    EXPECT_TRUE(client.echo_matches());
    EXPECT_EQ(client.samples_ns().size(), 2U);  // the warm-up has none
}

TEST_F(PingPongTest, AnEchoThatDiffersIsSeen) {
    auto bytes = request(100);
    bytes[99] ^= std::byte{1};
    client.got(bytes.data(), 100);
    EXPECT_FALSE(client.echo_matches());
}

TEST_F(PingPongTest, AnEchoThatIsTooLongIsSeen) {
    auto bytes = request(100);
    bytes.resize(101);
    client.got(bytes.data(), 101);
    EXPECT_FALSE(client.echo_matches());
}

TEST(Sender, WritesWhatItWasAskedTo) {
    const Pattern pattern(3);
    Sender sender(pattern, 10, 2);
    PatternCursor expected(pattern);
    std::vector<std::byte> bytes(10);
    for (int i = 0; i < 2; ++i) {
        EXPECT_FALSE(sender.finished());
        EXPECT_EQ(sender.next_write(), 10U);
        sender.put(bytes.data(), 10);
        EXPECT_TRUE(expected.matches(bytes.data(), 10));
    }
    EXPECT_TRUE(sender.finished());
    EXPECT_EQ(sender.next_write(), 0U);
}

}  // namespace
}  // namespace vsb::engine
