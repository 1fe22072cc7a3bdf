#include "stats/published_row.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "stats/draws.h"
#include "stats/reference_data.h"

namespace vsb::stats {
namespace {

PublishedRow row_of(const char* a, const char* b, const char* change, const char* low,
                    const char* high) {
    PublishedRow row;
    if (*a) row.a = parse_printed(a);
    if (*b) row.b = parse_printed(b);
    if (*change) row.change = parse_printed(change);
    if (*low) row.low = parse_printed(low);
    if (*high) row.high = parse_printed(high);
    return row;
}

TEST(ParsePrinted, KeepsHalfAUnitOfTheLastDigit) {
    EXPECT_NEAR(parse_printed("+92.91%").value, 0.9291, 1e-15);
    EXPECT_NEAR(parse_printed("+92.91%").half_unit, 0.00005, 1e-18);
    EXPECT_NEAR(parse_printed(" 1.13%").value, 0.0113, 1e-15);
    EXPECT_NEAR(parse_printed("- 7.89 %").value, -0.0789, 1e-15);
    EXPECT_NEAR(parse_printed("0.1290").half_unit, 0.00005, 1e-18);
    EXPECT_EQ(parse_printed("12").half_unit, 0.5);
    EXPECT_EQ(parse_printed("+4.497%").half_unit, 0.000005);
    for (const char* bad : {"", "%", "+", "1.2.3", "1e5", "nan", "12x", "--1", "."}) {
        EXPECT_THROW(parse_printed(bad), std::invalid_argument) << bad;
    }
}

TEST(PublishedRow, OneWrongDigitIsSeen) {
    EXPECT_EQ(
        check_published_row(row_of("0.1290", "0.2489", "+92.91%", "+89.31%", "+96.58%")).verdict,
        Consistency::consistent);
    const RowCheck wrong =
        check_published_row(row_of("0.1290", "0.2489", "+92.19%", "+89.31%", "+96.58%"));
    EXPECT_EQ(wrong.verdict, Consistency::inconsistent);
    EXPECT_NE(wrong.reason.find("the interval's middle"), std::string::npos);
    EXPECT_NE(wrong.reason.find("the means give"), std::string::npos);
    EXPECT_EQ(check_published_row(row_of("", "", "+92.91%", "+89.31%", "+97.58%")).verdict,
              Consistency::inconsistent);
    EXPECT_EQ(check_published_row(row_of("0.1390", "0.2489", "+92.91%", "", "")).verdict,
              Consistency::inconsistent);
    EXPECT_EQ(check_published_row(row_of("", "", "+5.00%", "+6.00%", "+4.00%")).verdict,
              Consistency::inconsistent);
}

TEST(PublishedRow, NotCheckableIsAnAnswer) {
    for (const auto& row : {row_of("1", "2", "", "", ""), row_of("1", "", "+5%", "", ""),
                            row_of("", "", "+5%", "+1%", ""), row_of("0.0", "2", "+5%", "", "")}) {
        const RowCheck found = check_published_row(row);
        EXPECT_EQ(found.verdict, Consistency::not_checkable);
        EXPECT_FALSE(found.reason.empty());
    }
    EXPECT_EQ(consistency_name(Consistency::not_checkable), "not-checkable");
}

// 16 pairs, t(0.975, 14) = 2.144786687917804.
TEST(PublishedRow, StandardErrorAndPFromTheInterval) {
    const auto row = row_of("", "", "+2.88%", "+1.13%", "+4.67%");
    const RowCheck found = check_published_row(row, {.pairs = 16});
    const double se = (std::log(1.0467) - std::log(1.0113)) / 2 / 2.144786687917804;
    EXPECT_NEAR(found.se.value(), se, 1e-12);
    EXPECT_NEAR(found.p.value(), 0.0034, 0.0005);
    const RowCheck normal =
        check_published_row(row, {.pairs = 16, .method = PublishedMethod::normal});
    EXPECT_NEAR(normal.se.value(), (std::log(1.0467) - std::log(1.0113)) / 2 / 1.959963984540054,
                1e-12);
    EXPECT_FALSE(check_published_row(row).se.has_value());
    EXPECT_FALSE(check_published_row(row, {.pairs = 2}).se.has_value());
    EXPECT_THROW(check_published_row(row, {.confidence = 1}), std::invalid_argument);
}

std::string percent(double fraction, int decimals) {
    char text[64];
    std::snprintf(text, sizeof text, "%+.*f%%", decimals, 100 * fraction);
    return text;
}

// Correct rows, rounded as a table prints them, are never refused; half of those with a digit of
// the change moved by three units are.
void check_random_rows(std::uint64_t seed, int rows) {
    Draws random(seed);
    const auto uniform = [&] { return static_cast<double>(random.below(1U << 30)) / (1U << 30); };
    int caught = 0;
    for (int i = 0; i < rows; ++i) {
        const double a = std::pow(10, 3 * uniform() - 1);
        const double theta = 1.6 * uniform() - 0.6;
        const double reach = std::pow(10, 2 * uniform() - 3);
        const int decimals = 1 + static_cast<int>(random.below(3));
        char mean_a[64];
        char mean_b[64];
        std::snprintf(mean_a, sizeof mean_a, "%.4f", a);
        std::snprintf(mean_b, sizeof mean_b, "%.4f", a * std::exp(theta));
        const auto low = percent(std::expm1(theta - reach), decimals);
        const auto high = percent(std::expm1(theta + reach), decimals);
        const auto change = percent(std::expm1(theta), decimals);
        const auto row = row_of(mean_a, mean_b, change.c_str(), low.c_str(), high.c_str());
        ASSERT_EQ(check_published_row(row).verdict, Consistency::consistent)
            << mean_a << " " << mean_b << " " << change << " [" << low << ", " << high << "]";
        const auto moved = percent(std::expm1(theta) + 0.03 * std::pow(10, -decimals), decimals);
        caught +=
            check_published_row(row_of("", "", moved.c_str(), low.c_str(), high.c_str())).verdict ==
                    Consistency::inconsistent
                ? 1
                : 0;
    }
    EXPECT_GT(caught, rows / 2);
}

TEST(PublishedRow, CorrectRowsAreNeverRefused) {
    check_random_rows(1, 10'000);
}
TEST(PublishedRowSlow, FourHundredThousandCorrectRows) {
    check_random_rows(2, 400'000);
}

// Every row of a mail that has a change and its interval; in three rows the interval stands on the
// next line.
std::size_t check_mail(const char* name) {
    std::ifstream in(testing::published_folder() / name);
    std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    const std::regex row(
        R"((?:^|\n) +\w+ +([0-9.]+) +([0-9.]+) +([+-][0-9.]+%)\s+\[ *([+-] *[0-9.]+%), *([+-] *[0-9.]+%)\])");
    std::size_t rows = 0;
    for (std::sregex_iterator match(text.begin(), text.end(), row), end; match != end; ++match) {
        const auto& m = *match;
        const RowCheck found =
            check_published_row(row_of(m[1].str().c_str(), m[2].str().c_str(), m[3].str().c_str(),
                                       m[4].str().c_str(), m[5].str().c_str()),
                                {.pairs = 16});
        EXPECT_EQ(found.verdict, Consistency::consistent) << m.str() << ": " << found.reason;
        EXPECT_GT(found.se.value(), 0);
        EXPECT_GE(found.p.value(), 0);
        ++rows;
    }
    return rows;
}

TEST(PublishedRowReference, AllRowsOfTheTwoSeriesAreConsistent) {
    VSB_NEED_FOLDER(testing::published_folder());
    EXPECT_EQ(check_mail("vsock-rx-batching-v5.txt"), 75U);
    EXPECT_EQ(check_mail("vsock-rx-batching-v1.txt"), 14U);
}

}  // namespace
}  // namespace vsb::stats
