#include "datasets/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <sstream>

namespace vsb::datasets {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::vector<PairedSeries> read(const std::string& text, const CsvOptions& options = {}) {
    std::istringstream in(text);
    return read_csv(in, "in.csv", options);
}

// The message of the CsvError.
std::string fault(const std::string& text, const CsvOptions& options = {}) {
    try {
        read(text, options);
    } catch (const CsvError& error) {
        return error.what();
    }
    return "(none)";
}

const std::string kHeader = "workload,pair,order,state,value\n";
const std::string kPair1 = "w,1,AB,A,2\nw,1,AB,B,3\n";

TEST(CsvTest, ReadsPairs) {
    const auto series = read(kHeader + "fixed/64B,1,AB,A,0.1290\nfixed/64B,1,AB,B,2.489e-1\n" +
                             "rtt/4K,7,BA,B,3\nrtt/4K,7,BA,A,4\nfixed/64B,2,BA,B,5\n"
                             "fixed/64B,2,BA,A,6\n");
    ASSERT_EQ(series.size(), 2U);
    EXPECT_EQ(series[0].workload, "fixed/64B");
    EXPECT_EQ(series[0].metric, "");
    EXPECT_EQ(series[0].unit, "");
    EXPECT_TRUE(series[0].higher_is_better);
    EXPECT_EQ(series[0].skipped, 0U);
    ASSERT_EQ(series[0].pairs.size(), 2U);
    EXPECT_EQ(series[0].pairs[0].pair, 1);
    EXPECT_EQ(series[0].pairs[0].order, PairOrder::ab);
    EXPECT_EQ(series[0].pairs[0].a, 0.1290);
    EXPECT_EQ(series[0].pairs[0].b, 0.2489);
    EXPECT_EQ(series[0].pairs[1].order, PairOrder::ba);
    EXPECT_EQ(series[0].pairs[1].a, 6);
    EXPECT_EQ(series[0].pairs[1].b, 5);
    EXPECT_EQ(series[1].workload, "rtt/4K");
    EXPECT_EQ(series[1].pairs.at(0).pair, 7);
}

TEST(CsvTest, ReadsAnyColumnOrderQuotesMarksAndLineEnds) {
    const auto series = read(
        "\xef\xbb\xbfunit,value,\"state\",metric,order,pair,workload\r\n"
        "us,1.5,A,rtt_mean,AB,1,\"a, \"\"b\"\"\"\r\n"
        "\r\n"
        "us,2.5,B,rtt_mean,AB,1,\"a, \"\"b\"\"\"");
    ASSERT_EQ(series.size(), 1U);
    EXPECT_EQ(series[0].workload, "a, \"b\"");
    EXPECT_EQ(series[0].metric, "rtt_mean");
    EXPECT_EQ(series[0].unit, "us");
    EXPECT_FALSE(series[0].higher_is_better);
    EXPECT_EQ(series[0].pairs.at(0).b, 2.5);
}

TEST(CsvTest, KeepsMetricsApart) {
    const auto series = read(
        "workload,metric,pair,order,state,value\n"
        "w,x,1,AB,A,1\nw,y,1,BA,A,3\nw,x,1,AB,B,2\nw,y,1,BA,B,4\n");
    ASSERT_EQ(series.size(), 2U);
    EXPECT_EQ(series[0].metric, "x");
    EXPECT_EQ(series[0].pairs.at(0).b, 2);
    EXPECT_EQ(series[1].metric, "y");
    EXPECT_EQ(series[1].pairs.at(0).a, 3);
}

struct BadRow {
    std::string rows;
    std::string where;  // "<line>: column <column>:"
    std::string why;
};

class CsvBadRowTest : public testing::TestWithParam<BadRow> {};

TEST_P(CsvBadRowTest, IsRefusedNamingLineAndColumn) {
    const std::string what = fault(kHeader + GetParam().rows);
    EXPECT_THAT(what, StartsWith("in.csv:" + GetParam().where));
    EXPECT_THAT(what, HasSubstr(GetParam().why));
}

INSTANTIATE_TEST_SUITE_P(
    EachKind, CsvBadRowTest,
    testing::Values(
        BadRow{"w,1,AB,A,2\n", "2: column state:", "pair 1 of 'w' has no run of state B"},
        BadRow{kPair1 + "w,2,BA,B,2\n" + "w,3,AB,A,2\n",
               "4: column state:", "pair 2 of 'w' has no run of state A"},
        BadRow{kPair1 + "w,1,AB,A,9\n", "4: column state:", "already, on line 2"},
        BadRow{"w,1,AB,A,2\nw,1,BA,B,3\n", "3: column order:", "differs from line 2"},
        BadRow{"w,1,AB,A,0\n", "2: column value:", "'0' is not above zero"},
        BadRow{"w,1,AB,A,-0.0\n", "2: column value:", "not above zero"},
        BadRow{"w,1,AB,A,-3\n", "2: column value:", "not above zero"},
        BadRow{"w,1,AB,A,nan\n", "2: column value:", "not a finite number"},
        BadRow{"w,1,AB,A,NaN\n", "2: column value:", "not a finite number"},
        BadRow{"w,1,AB,A,inf\n", "2: column value:", "not a finite number"},
        BadRow{"w,1,AB,A,-infinity\n", "2: column value:", "not a finite number"},
        BadRow{"w,1,AB,A,1e999\n", "2: column value:", "not a finite number"},
        BadRow{"w,1,AB,A,1e-999\n", "2: column value:", "not a finite number"},
        BadRow{"w,1,AB,A,\n", "2: column value:", "'' is not a number"},
        BadRow{"w,1,AB,A,fast\n", "2: column value:", "'fast' is not a number"},
        BadRow{"w,1,AB,A,1.5x\n", "2: column value:", "not a number"},
        BadRow{"w,1,AB,A, 1.5\n", "2: column value:", "' 1.5' is not a number"},
        BadRow{"w,1,AB,A,+1\n", "2: column value:", "not a number"},
        BadRow{"w,1,AB,A,0x10\n", "2: column value:", "not a number"},
        BadRow{"w,1,AB,A,\"1,5\"\n", "2: column value:", "'1,5' is not a number"},
        BadRow{"w,one,AB,A,1\n", "2: column pair:", "'one' is no pair number"},
        BadRow{"w,1.0,AB,A,1\n", "2: column pair:", "no pair number"},
        BadRow{"w,-1,AB,A,1\n", "2: column pair:", "no pair number"},
        BadRow{"w,,AB,A,1\n", "2: column pair:", "'' is no pair number"},
        BadRow{"w,99999999999999999999,AB,A,1\n", "2: column pair:", "no pair number"},
        BadRow{"w,1,ab,A,1\n", "2: column order:", "neither AB nor BA"},
        BadRow{"w,1,,A,1\n", "2: column order:", "neither AB nor BA"},
        BadRow{"w,1,AB,C,1\n", "2: column state:", "neither A nor B"},
        BadRow{"w,1,AB,a,1\n", "2: column state:", "neither A nor B"},
        BadRow{",1,AB,A,1\n", "2: column workload:", "empty"},
        BadRow{"w,1,AB,A\n", "2: column value:", "ends before it"},
        BadRow{"w,1,AB,A,1,2\n", "2: column 6:", "more fields than the header"},
        BadRow{"\"w,1,AB,A,1\n", "2: column workload:", "does not end on its line"},
        BadRow{"\"w\"x,1,AB,A,1\n", "2: column workload:", "after the closing quote"},
        BadRow{"w,1,A\"B\",A,1\n", "2: column order:", "a quote inside a field"},
        BadRow{"w\x1b[31m,1,AB,A,1\n", "2: column workload:", "control character"},
        BadRow{"w\xc2\x9b,1,AB,A,1\n", "2: column workload:", "control character"},
        BadRow{std::string("w\0,1,AB,A,1\n", 12), "2: column workload:", "control character"},
        BadRow{"w\xff,1,AB,A,1\n", "2: column workload:", "not UTF-8"},
        BadRow{"w\xed\xa0\x80,1,AB,A,1\n", "2: column workload:", "not UTF-8"},
        BadRow{"", "1: column 1:", "no rows below the header"}));

TEST(CsvTest, RefusesABadHeader) {
    EXPECT_THAT(fault(""), StartsWith("in.csv:1: column workload: the file is empty"));
    EXPECT_THAT(fault("workload,pair,order,state\n"),
                StartsWith("in.csv:1: column value: the header lacks it"));
    EXPECT_THAT(fault("workload,pair,order,state,value,colour\n"),
                StartsWith("in.csv:1: column 6: there is no column 'colour'"));
    EXPECT_THAT(fault("workload,pair,order,state,value,pair\n"),
                StartsWith("in.csv:1: column pair: the header names it twice"));
    EXPECT_THAT(fault("workload;pair;order;state;value\n"), HasSubstr("with commas"));
    EXPECT_THAT(fault("w,1,AB,A,2\n"), HasSubstr("there is no column 'w'"));
    EXPECT_THAT(fault("workload,\"pair\n"), StartsWith("in.csv:1: column 2:"));
    EXPECT_THAT(fault(std::string("\xff\xfew\0", 4)), HasSubstr("UTF-16"));
}

TEST(CsvTest, RefusesAUnitThatChanges) {
    const std::string header = "workload,pair,order,state,value,metric,unit\n";
    EXPECT_THAT(fault(header + "w,1,AB,A,2,m,us\nw,1,AB,B,2,m,ns\n"),
                StartsWith("in.csv:3: column unit: 'ns' differs from 'us' on line 2"));
}

TEST(CsvTest, HasCaps) {
    CsvOptions options;
    options.caps.bytes = 50;
    EXPECT_THAT(fault(kHeader + kPair1 + kPair1, options), HasSubstr("larger than 50 bytes"));
    options.caps = {};
    options.caps.lines = 3;
    EXPECT_EQ(read(kHeader + kPair1, options).size(), 1U);
    EXPECT_THAT(fault(kHeader + kPair1 + "\n", options),
                StartsWith("in.csv:4: column 1: there are more than 3 lines"));
    options.caps = {};
    options.caps.line_bytes = 40;
    EXPECT_THAT(fault(kHeader + std::string(100, 'w') + ",1,AB,A,2\n", options),
                StartsWith("in.csv:2: column 1: the line is longer than 40 bytes"));
    EXPECT_THAT(fault(kHeader + std::string(1'000'000, 'w'), options),
                HasSubstr("the line is longer than 40 bytes"));
    options.caps = {};
    options.caps.field_bytes = 20;
    EXPECT_THAT(fault(kHeader + std::string(21, 'w') + ",1,AB,A,2\n", options),
                StartsWith("in.csv:2: column workload: the field is longer than 20 bytes"));
    // They hold under skip_invalid too, but for the field: its row is skipped.
    options.skip_invalid = true;
    options.caps.line_bytes = 40;
    EXPECT_THAT(fault(kHeader + std::string(100, 'w') + ",1,AB,A,2\n", options),
                HasSubstr("longer than 40 bytes"));
}

TEST(CsvTest, SkipInvalidDropsWholePairsAndCountsThem) {
    CsvOptions options;
    options.skip_invalid = true;
    const auto series = read(kHeader + kPair1 +
                                 "w,2,AB,A,nan\nw,2,AB,B,3\n"            // a bad value
                                 "w,3,AB,A,1\n"                          // unpaired
                                 "w,4,AB,A,1\nw,4,BA,B,1\n"              // order differs
                                 "w,5,AB,A,1\nw,5,AB,B,1\nw,5,AB,B,1\n"  // a run twice
                                 "w,6,AB,A\nw,6,AB,B,1\n"                // a short row
                                 "w,7,AB,X,1\nw,7,AB,B,1\n"              // a state that is none
                                 "w,eight,AB,A,1\nw,8,AB,B,1\n"  // names no pair: 8 is unpaired
                                 "\"broken\nv,1,AB,A,0\n"
                                 "w,9,BA,A,5\nw,9,BA,B,6\n",
                             options);
    ASSERT_EQ(series.size(), 2U);
    ASSERT_EQ(series[0].pairs.size(), 2U);
    EXPECT_EQ(series[0].pairs[0].pair, 1);
    EXPECT_EQ(series[0].pairs[1].pair, 9);
    EXPECT_EQ(series[0].pairs[1].b, 6);
    EXPECT_EQ(series[0].skipped, 7U);
    EXPECT_EQ(series[1].workload, "v");
    EXPECT_TRUE(series[1].pairs.empty());
    EXPECT_EQ(series[1].skipped, 1U);
}

TEST(CsvTest, SkipInvalidPutsAShortRowToNoWrongSeries) {
    CsvOptions options;
    options.skip_invalid = true;
    const auto series = read(
        "workload,pair,order,state,value,metric\n"
        "w,1,AB,A,1\nw,1,AB,B,1,m\nw,2,AB,A,1,m\nw,2,AB,B,1,m\n",
        options);
    ASSERT_EQ(series.size(), 1U);
    EXPECT_EQ(series[0].metric, "m");
    EXPECT_EQ(series[0].pairs.size(), 1U);
    EXPECT_EQ(series[0].skipped, 1U);
}

TEST(CsvTest, LowerIsBetterIsForMetricsThatDoNotSay) {
    CsvOptions options;
    options.lower_is_better = true;
    EXPECT_FALSE(read(kHeader + kPair1, options)[0].higher_is_better);
    const std::string header = "workload,pair,order,state,value,metric,unit\n";
    const auto named = [&](const std::string& tail) {
        return read(header + "w,1,AB,A,2," + tail + "\nw,1,AB,B,3," + tail + "\n", options)[0];
    };
    EXPECT_TRUE(named("throughput,Gbit/s").higher_is_better);
    EXPECT_FALSE(named("score,").higher_is_better);
}

TEST(CsvTest, WritesWhatItReads) {
    PairedSeries awkward;
    awkward.workload = "=1+2, \"quoted\" \xc3\xa4";
    awkward.metric = "'-x";
    awkward.unit = "Gbit/s";
    awkward.pairs = {
        {3, PairOrder::ba, 0.1 + 0.2, std::numeric_limits<double>::denorm_min()},
        {9223372036854775807, PairOrder::ab, std::numeric_limits<double>::max(), 1.0 / 3.0}};
    PairedSeries plain;
    plain.workload = "'plain'";
    plain.pairs = {{0, PairOrder::ab, 1, 2}};
    const std::string text = to_csv(std::vector{awkward, plain});
    const auto series = read(text);
    ASSERT_EQ(series.size(), 2U);
    EXPECT_EQ(series[0].workload, awkward.workload);
    EXPECT_EQ(series[0].metric, awkward.metric);
    EXPECT_EQ(series[0].unit, awkward.unit);
    EXPECT_EQ(series[1].workload, plain.workload);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(series[0].pairs.at(i).pair, awkward.pairs[i].pair);
        EXPECT_EQ(series[0].pairs.at(i).order, awkward.pairs[i].order);
        EXPECT_EQ(series[0].pairs.at(i).a, awkward.pairs[i].a);
        EXPECT_EQ(series[0].pairs.at(i).b, awkward.pairs[i].b);
    }
    EXPECT_EQ(to_csv(series), text);
}

TEST(CsvGolden, TheWrittenForm) {
    PairedSeries series;
    series.workload = "@fixed/64B";
    series.metric = "throughput";
    series.unit = "Gbit/s";
    series.pairs = {{1, PairOrder::ab, 0.129, 0.2489}, {2, PairOrder::ba, 0.13, 0.25}};
    EXPECT_EQ(to_csv(std::vector{series}),
              "workload,pair,order,state,value,metric,unit\n"
              "'@fixed/64B,1,AB,A,0.129,throughput,Gbit/s\n"
              "'@fixed/64B,1,AB,B,0.2489,throughput,Gbit/s\n"
              "'@fixed/64B,2,BA,B,0.25,throughput,Gbit/s\n"
              "'@fixed/64B,2,BA,A,0.13,throughput,Gbit/s\n");
}

TEST(CsvTest, WritesNoTextOrNumberThatCannotBeRead) {
    PairedSeries series;
    series.workload = "a\nb";
    series.pairs = {{1, PairOrder::ab, 1, 2}};
    EXPECT_THROW(to_csv(std::vector{series}), std::invalid_argument);
    series.workload = "w";
    series.pairs[0].b = std::numeric_limits<double>::infinity();
    EXPECT_THROW(to_csv(std::vector{series}), std::invalid_argument);
}

TEST(CsvTest, AFailingStreamIsNotTheEndOfTheFile) {
    struct Failing : std::streambuf {
        int_type underflow() override { throw std::runtime_error("input/output error"); }
    } buffer;
    std::istream in(&buffer);
    EXPECT_THROW(read_csv(in, "in.csv", {}), CsvError);
}

}  // namespace
}  // namespace vsb::datasets
