#include "harness/guest/agent.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace vsb::guest {
namespace {

TEST(AgentText, EveryByteComesBack) {
    std::string all;
    for (int byte = 0; byte < 256; ++byte)
        all += static_cast<char>(byte);
    const std::string text = encode_text(all);
    EXPECT_EQ(text.find_first_of(" \n\r\t"), std::string::npos);
    EXPECT_EQ(decode_text(text), all);
    EXPECT_EQ(decode_text(encode_text("")), "");
    EXPECT_EQ(encode_text("a b%"), "a%20b%25");
}

TEST(AgentText, BadEscapesAreRefused) {
    for (const char* text : {"%2", "a%", "%zz", "%2G"}) {
        EXPECT_THROW(decode_text(text), std::invalid_argument) << text;
    }
}

TEST(AgentLines, ComeWholeWhateverThePieces) {
    LineBuffer buffer;
    std::string line;
    EXPECT_TRUE(buffer.feed("HEL"));
    EXPECT_FALSE(buffer.next(line));
    EXPECT_TRUE(buffer.feed("LO a=1\r\nEND\nx"));
    ASSERT_TRUE(buffer.next(line));
    EXPECT_EQ(line, "HELLO a=1");
    ASSERT_TRUE(buffer.next(line));
    EXPECT_EQ(line, "END");
    EXPECT_FALSE(buffer.next(line));
}

TEST(AgentLines, GarbageWithoutEndIsAnError) {
    LineBuffer buffer;
    EXPECT_TRUE(buffer.feed(std::string(kMaxAgentLine, 'x')));
    EXPECT_FALSE(buffer.feed("x"));
}

}  // namespace
}  // namespace vsb::guest
