#include "harness/value_text.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "harness/utf8.h"

namespace vsb::harness {
namespace {

TEST(ValueText, CountsAreDigitsOnly) {
    EXPECT_EQ(parse_count("0"), 0U);
    EXPECT_EQ(parse_count("010"), 10U);
    EXPECT_EQ(parse_count("18446744073709551615"), 18446744073709551615U);
    for (const char* bad : {"", "-1", "+1", " 1", "1 ", "0x10", "1e3", "18446744073709551616"}) {
        EXPECT_THROW(parse_count(bad), std::invalid_argument) << bad;
    }
}

TEST(ValueText, NumbersAreFinite) {
    EXPECT_EQ(parse_number("0.25"), 0.25);
    EXPECT_EQ(parse_number("-1e-3"), -0.001);
    for (const char* bad : {"", "nan", "inf", "1e999", "0.5x", "1,5"}) {
        EXPECT_THROW(parse_number(bad), std::invalid_argument) << bad;
    }
}

TEST(ValueText, FractionsMayBePercent) {
    EXPECT_DOUBLE_EQ(parse_fraction("2%"), 0.02);
    EXPECT_DOUBLE_EQ(parse_fraction("0.02"), 0.02);
    EXPECT_THROW(parse_fraction("%"), std::invalid_argument);
    EXPECT_THROW(parse_fraction("2%%"), std::invalid_argument);
}

TEST(ValueText, Durations) {
    EXPECT_EQ(parse_duration_ns("500ms"), 500'000'000);
    EXPECT_EQ(parse_duration_ns("30s"), 30'000'000'000);
    EXPECT_EQ(parse_duration_ns("2m"), 120'000'000'000);
    EXPECT_EQ(parse_duration_ns("1.5"), 1'500'000'000);
    for (const char* bad : {"", "s", "0", "-1s", "1h", "1e9", "nan", "0.0001"}) {
        EXPECT_THROW(parse_duration_ns(bad), std::invalid_argument) << bad;
    }
}

TEST(ValueText, ListsAndAssignments) {
    EXPECT_TRUE(split_list("").empty());
    EXPECT_EQ(split_list("a,b"), (std::vector<std::string>{"a", "b"}));
    for (const char* bad : {",", "a,", ",a", "a,,b"}) {
        EXPECT_THROW(split_list(bad), std::invalid_argument) << bad;
    }
    const auto items = split_assignments("receiver=0,worker=1");
    ASSERT_EQ(items.size(), 2U);
    EXPECT_EQ(items[1], (std::pair<std::string, std::string>{"worker", "1"}));
    for (const char* bad : {"a", "=1", "a=", "a=1,a=2"}) {
        EXPECT_THROW(split_assignments(bad), std::invalid_argument) << bad;
    }
}

TEST(ValueText, NumbersReadBackTheSame) {
    for (const double value : {0.1, 1.0, 1e-9, 123456.789, 2.0 / 3}) {
        EXPECT_EQ(parse_number(number_text(value)), value);
    }
}

TEST(Utf8, ShortestFormsOnly) {
    EXPECT_TRUE(is_utf8("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"));
    for (const char* bad : {"\x80", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80",
                            "\xf4\x90\x80\x80", "\xc3", "a\xff"}) {
        EXPECT_FALSE(is_utf8(bad)) << bad;
    }
    EXPECT_EQ(first_code_point("\xe2\x82\xac").value, U'\u20ac');
}

}  // namespace
}  // namespace vsb::harness
