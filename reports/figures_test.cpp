#include "reports/figures.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace vsb::reports {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Percent, HasASignAndTwoDecimals) {
    EXPECT_EQ(percent(0.9291), "+92.91%");
    EXPECT_EQ(percent(-0.0845), "-8.45%");
    EXPECT_EQ(percent(1.2225), "+122.25%");
    EXPECT_EQ(percent(13.0), "+1300.00%");
}

TEST(Percent, NeverPrintsMinusZero) {
    EXPECT_EQ(percent(0.0), "+0.00%");
    EXPECT_EQ(percent(-0.0), "+0.00%");
    EXPECT_EQ(percent(-0.00001), "+0.00%");
    EXPECT_EQ(percent(0.0000134), "+0.00%");
    EXPECT_EQ(percent(1e-300), "+0.00%");
    EXPECT_EQ(percent(-0.0003), "-0.03%");
}

TEST(Percent, HugeAndMissing) {
    EXPECT_EQ(percent(9999.0), "+999900.00%");
    EXPECT_EQ(percent(1e4), "+1.00e+06%");
    EXPECT_EQ(percent(1e300), "+1.00e+302%");
    EXPECT_EQ(percent(1e307), "n/a");  // its percentage is beyond a double
    EXPECT_EQ(percent(std::nan("")), "n/a");
    EXPECT_EQ(percent(-kInf), "n/a");
}

TEST(Percent, Plain) {
    EXPECT_EQ(plain_percent(0.95), "95%");
    EXPECT_EQ(plain_percent(0.999), "99.9%");
    EXPECT_EQ(plain_percent(0.02), "2%");
}

TEST(Interval, PadsItsBounds) {
    EXPECT_EQ(interval({0.8931, 0.9658}), "[+89.31%, +96.58%]");
    EXPECT_EQ(interval({0.0805, 0.109}, 7, 7), "[ +8.05%, +10.90%]");
}

TEST(Mean, AsPublished) {
    EXPECT_EQ(mean(0.129, "Gbit/s"), "0.1290");
    EXPECT_EQ(mean(5.48421, "Gbit/s"), "5.4842");
    EXPECT_EQ(mean(224.1481, "us"), "224.148");
    EXPECT_EQ(mean(65.2819, "cycles/B"), "65.282");
}

TEST(Mean, KeepsFourSignificantDigits) {
    EXPECT_EQ(mean(0.0795724, "Gbit/s"), "0.07957");
    EXPECT_EQ(mean(0.00012345, "us"), "0.0001234");
    EXPECT_EQ(mean(0.5, "us"), "0.5000");
    EXPECT_EQ(mean(1e-5, ""), "0.00001000");
}

TEST(Mean, OtherUnits) {
    EXPECT_EQ(mean(9.75, ""), "9.7500");
    EXPECT_EQ(mean(10.5, "Mpps"), "10.5000");
    EXPECT_EQ(mean(1234.5678, "ns"), "1234.568");
    EXPECT_EQ(mean(7654321.0, "ns"), "7654321");
}

TEST(Mean, EndsOfTheRange) {
    EXPECT_EQ(mean(0.0, "Gbit/s"), "0");
    EXPECT_EQ(mean(-0.0, "Gbit/s"), "0");
    EXPECT_EQ(mean(1e-300, "Gbit/s"), "1.000e-300");
    EXPECT_EQ(mean(1e300, "us"), "1.000e+300");
    EXPECT_EQ(mean(std::numeric_limits<double>::denorm_min(), "us"), "4.941e-324");
    EXPECT_EQ(mean(std::nan(""), "us"), "n/a");
    EXPECT_EQ(mean(kInf, "1"), "n/a");
    EXPECT_EQ(mean(-2.5, "us"), "-2.500");
}

TEST(Mean, Counts) {
    EXPECT_EQ(mean(1048577, "1"), "1048577");
    EXPECT_EQ(mean(131332.4, "1"), "131332");
    EXPECT_EQ(mean(7, "1"), "7");
    EXPECT_EQ(mean(12.345, "1"), "12.35");
    EXPECT_EQ(mean(1e300, "1"), "1.000e+300");
}

TEST(PValue, ThreeDecimals) {
    EXPECT_EQ(p_value(0.0311), "0.031");
    EXPECT_EQ(p_value(0.000999), "<0.001");
    EXPECT_EQ(p_value(0.0), "<0.001");
    EXPECT_EQ(p_value(1.0), "1.000");
    EXPECT_EQ(p_value(std::nullopt), "-");
    EXPECT_EQ(p_value(std::nan("")), "-");
    EXPECT_EQ(p_value(1e300), "-");
}

TEST(Exact, ReadsBackAndLeavesOutWhatIsNone) {
    for (const double value : {0.1, 1e300, 1e-300, -2.5, 1.0 / 3, 123456789.123}) {
        EXPECT_EQ(std::stod(exact(value)), value);
    }
    EXPECT_EQ(exact(-0.0), "0");
    EXPECT_EQ(exact(std::nan("")), "");
    EXPECT_EQ(exact(std::optional<double>()), "");
}

TEST(Grouped, Thousands) {
    EXPECT_EQ(grouped(0), "0");
    EXPECT_EQ(grouped(999), "999");
    EXPECT_EQ(grouped(10000), "10,000");
    EXPECT_EQ(grouped(-1048577), "-1,048,577");
}

}  // namespace
}  // namespace vsb::reports
