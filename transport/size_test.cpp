#include "transport/size.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace vsb::transport {
namespace {

TEST(ParseSize, ReadsPowersOf1024InEitherCase) {
    EXPECT_EQ(parse_size("0"), 0u);
    EXPECT_EQ(parse_size("65536"), 65536u);
    EXPECT_EQ(parse_size("64K"), 65536u);
    EXPECT_EQ(parse_size("64k"), 65536u);
    EXPECT_EQ(parse_size("2G"), std::uint64_t{2} << 30);
    EXPECT_EQ(parse_size("15E"), std::uint64_t{15} << 60);
    EXPECT_EQ(parse_size("18446744073709551615"), ~std::uint64_t{0});
}

TEST(ParseSize, RejectsWhatItDoesNotUnderstand) {
    for (const char* bad : {"", "-1", "+1", " 1", "1 ", "1.5G", "64KB", "64KiB", "abc", "K", "0x10",
                            "1X", "16E", "18446744073709551616", "1e3"}) {
        EXPECT_THROW(parse_size(bad), std::invalid_argument) << bad;
    }
}

TEST(FormatSize, IsTheSpellingOfTheLists) {
    EXPECT_EQ(format_size(0), "0B");
    EXPECT_EQ(format_size(64), "64B");
    EXPECT_EQ(format_size(1024), "1K");
    EXPECT_EQ(format_size(1500), "1500B");
    EXPECT_EQ(format_size(65536), "64K");
    EXPECT_EQ(format_size(std::uint64_t{3} << 30), "3G");
}

}  // namespace
}  // namespace vsb::transport
