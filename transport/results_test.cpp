#include "transport/results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace vsb::transport {
namespace {

using ::testing::HasSubstr;

Results sample() {
    Results results;
    results.text("tool", "x");
    results.count("bytes", 18446744073709551615u);
    results.real("rate", 0.125);
    results.absent("cycles", "no \"PMU\"\n");
    return results;
}

TEST(Results, LinesReadBackAsWritten) {
    EXPECT_EQ(sample().lines(),
              "tool=x\nbytes=18446744073709551615\nrate=0.125\ncycles_absent=no \"PMU\"\\x0a\n"
              "status=ok\n");
    const ReadResults read = read_results(sample().lines());
    EXPECT_TRUE(read.ok);
    EXPECT_EQ(read.fields.number("bytes"), 18446744073709551615u);
    EXPECT_EQ(read.fields.real("rate"), 0.125);
    EXPECT_EQ(read.fields.find("status"), nullptr);
}

TEST(Results, JsonHasNullsForWhatIsAbsent) {
    EXPECT_EQ(sample().json(),
              R"({"tool": "x", "bytes": 18446744073709551615, "rate": 0.125, "cycles": null, )"
              R"("cycles_absent": "no \"PMU\"\\x0a", "status": "ok"})"
              "\n");
}

TEST(Results, NumbersThatAreNoneAreRefused) {
    Results results;
    EXPECT_THROW(results.real("a", std::nan("")), std::invalid_argument);
    EXPECT_THROW(results.real("a", std::numeric_limits<double>::infinity()), std::invalid_argument);
    EXPECT_THROW(results.count("Bad", 1), std::invalid_argument);
    results.count("a", 1);
    EXPECT_THROW(results.count("a", 1), std::invalid_argument);
}

TEST(ReadResults, AFailedTrialHasAReasonAndNoFigures) {
    const ReadResults read = read_results(failed_lines("peer left\n"));
    EXPECT_FALSE(read.ok);
    EXPECT_EQ(read.reason, "peer left\\x0a");
    EXPECT_EQ(failed_json("a\"b"), "{\"reason\": \"a\\\"b\", \"status\": \"failed\"}\n");
    EXPECT_EQ(read_results("bytes=5\nreason=x\nstatus=failed\n").fields.find("bytes"), nullptr);
}

TEST(ReadResults, EveryTruncationIsRefused) {
    const std::string whole = sample().lines();
    for (std::size_t size = 0; size < whole.size(); ++size) {
        EXPECT_THROW(read_results(std::string_view(whole).substr(0, size)), std::invalid_argument)
            << size;
    }
    EXPECT_THROW(read_results("reason=x\n"), std::invalid_argument);
}

TEST(ReadResults, ErrorsNameTheLine) {
    const auto error = [](const std::string& text) -> std::string {
        try {
            read_results(text);
        } catch (const std::invalid_argument& e) {
            return e.what();
        }
        return "";
    };
    EXPECT_THAT(error("a=1\nb\nstatus=ok\n"), HasSubstr("line 2: has no '='"));
    EXPECT_THAT(error("a=1\na=2\nstatus=ok\n"), HasSubstr("line 2: a: is given twice"));
    EXPECT_THAT(error("A=1\nstatus=ok\n"), HasSubstr("line 1: A: is no key"));
    EXPECT_THAT(error("status=ok\na=1\n"), HasSubstr("line 2: follows"));
    EXPECT_THAT(error("status=fine\n"), HasSubstr("line 1: status"));
    EXPECT_THAT(error("a=\x1b[2J\nstatus=ok\n"), HasSubstr("line 1: holds"));
    EXPECT_THAT(error("status=failed\n"), HasSubstr("no reason"));
    EXPECT_THAT(error("reason=x\nstatus=ok\n"), HasSubstr("reason and status=ok"));
    std::string many;
    for (int i = 0; i < 1001; ++i)
        many += "k" + std::to_string(i) + "=1\n";
    EXPECT_THAT(error(many + "status=ok\n"), HasSubstr("line 1001: too many"));
    EXPECT_THAT(error("a=" + std::string(2 << 20, 'x') + "\nstatus=ok\n"), HasSubstr("too long"));
}

TEST(Fields, NumbersAreStrict) {
    Fields fields;
    fields.add("a", "1e3");
    fields.add("b", "-1");
    fields.add("c", "nan");
    EXPECT_EQ(fields.real("a"), 1000.0);
    EXPECT_THROW(fields.number("a"), std::invalid_argument);
    EXPECT_THROW(fields.number("b"), std::invalid_argument);
    EXPECT_THROW(fields.real("c"), std::invalid_argument);
    EXPECT_THROW(fields.number("d"), std::invalid_argument);
}

}  // namespace
}  // namespace vsb::transport
