#include "receivers/perf/perf_stat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace vsb::perf {
namespace {

using ::testing::HasSubstr;

TEST(ReadStatCsv, ReadsCountsAndWhatIsNone) {
    const auto lines = read_stat_csv(
        "# started on Mon\n\n"
        "123456,,cycles,2046059,100.00,,\n"
        "654321,,instructions:k,2046059,100.00,5.30,insn per cycle\n"
        "<not counted>,,branches,0,100.00,,\n"
        "<not supported>,,cache-misses,0,100.00,,\n"
        "999,,page-faults,500000,24.44,,\n"
        "0,,cs,500000,100.00,,\n");
    ASSERT_EQ(lines.size(), 6u);
    EXPECT_EQ(lines[0].count.value, 123456u);
    EXPECT_EQ(lines[1].event, "instructions:k");
    EXPECT_EQ(lines[2].count.value, std::nullopt);
    EXPECT_THAT(lines[2].count.reason, HasSubstr("never ran"));
    EXPECT_THAT(lines[3].count.reason, HasSubstr("no such hardware counter"));
    EXPECT_EQ(lines[4].count.value, std::nullopt);
    EXPECT_THAT(lines[4].count.reason, HasSubstr("multiplexed: on the hardware for 24.44%"));
    EXPECT_EQ(lines[5].count.value, 0u) << "a zero that was counted is a value";
    EXPECT_EQ(counts_of(lines).cycles.value, 123456u);
    EXPECT_EQ(counts_of(lines).instructions.value, 654321u);
}

TEST(ReadStatCsv, TakesAnotherSeparator) {
    EXPECT_EQ(read_stat_csv("12;;cycles;1;100.00;;", ';')[0].count.value, 12u);
}

TEST(ReadStatCsv, ErrorsNameTheLine) {
    const auto error = [](const std::string& text) -> std::string {
        try {
            read_stat_csv(text);
        } catch (const std::invalid_argument& e) {
            return e.what();
        }
        return "";
    };
    const std::string good = "1,,cycles,1,100.00,,\n";
    EXPECT_THAT(error(""), HasSubstr("no event"));
    EXPECT_THAT(error("# nothing\n"), HasSubstr("no event"));
    EXPECT_THAT(error(good + "perf: command not found\n"), HasSubstr("line 2: has 1 fields"));
    EXPECT_THAT(error(good + good + "x,,cycles,1,100.00,,\n"),
                HasSubstr("line 3: 'x' is no count"));
    for (const char* bad :
         {"-1,,cycles,1,100.00,,", "1.5,,cycles,1,100.00,,", "1e999,,cycles,1,100.00,,",
          "nan,,cycles,1,100.00,,", ",,cycles,1,100.00,,", "1,,,1,100.00,,", "1,,cycles,x,100.00,,",
          "1,,cycles,1,100.01,,", "1,,cycles,1,-1,,", "1,,cycles,1,nan,,", "1,,cycles,1,,,",
          "<what>,,cycles,1,100.00,,", "1,,cycles,1", "1,,cycles,1,100.00,,,,",
          "18446744073709551616,,cycles,1,100.00,,"}) {
        EXPECT_THAT(error(bad), HasSubstr("line 1: ")) << bad;
    }
    std::string many;
    for (int i = 0; i < 1001; ++i)
        many += good;
    EXPECT_THAT(error(many), HasSubstr("line 1001: too many"));
}

TEST(ReadStatJson, ReadsWhatPerfPrints) {
    const auto lines = read_stat_json(
        R"({"counter-value" : "<not supported>", "unit" : "", "event" : "cycles", )"
        R"("event-runtime" : 0, "pcnt-running" : 100.00, "metric-value" : 0.0, "metric-unit" : ""})"
        "\n"
        R"({"counter-value" : "42.000000", "unit" : "", "event" : "instructions", )"
        R"("event-runtime" : 1864255, "pcnt-running" : 100.00})"
        "\n"
        R"({"counter-value" : "42.000000", "unit" : "", "event" : "branches", )"
        R"("event-runtime" : 1864255, "pcnt-running" : 50.00})"
        "\n");
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_EQ(lines[1].count.value, 42u);
    EXPECT_THAT(lines[2].count.reason, HasSubstr("50.00%"));
    const Counts counts = counts_of(lines);
    EXPECT_EQ(counts.cycles.value, std::nullopt);
    EXPECT_EQ(counts.instructions.value, 42u);
}

TEST(ReadStatJson, ErrorsNameTheLine) {
    for (const char* bad :
         {"{", "[]", "1", "{}", R"({"counter-value" : "1"})",
          R"({"counter-value" : 1, "event" : "cycles", "event-runtime" : 1, "pcnt-running" : 100})",
          R"({"counter-value" : "1.5", "event" : "c", "event-runtime" : 1, "pcnt-running" : 100})",
          R"({"counter-value" : "1", "event" : "c", "event-runtime" : -1, "pcnt-running" : 100})",
          R"({"counter-value" : "1", "event" : "c", "event-runtime" : 1, "pcnt-running" : 101})",
          R"({"counter-value" : "1", "event" : "", "event-runtime" : 1, "pcnt-running" : 100})"}) {
        try {
            read_stat_json(bad);
            ADD_FAILURE() << bad;
        } catch (const std::invalid_argument& error) {
            EXPECT_THAT(error.what(), HasSubstr("line 1: ")) << bad;
        }
    }
}

TEST(ReadStatCsv, ClocksAreInNanosecondsAndMetricLinesArePassedOver) {
    const auto lines = read_stat_csv(
        "2.84,msec,task-clock,2839666,100.00,0.965,CPUs utilized\r\n"
        "1000,ns,duration_time,1000,100.00,,\n"
        ",,,,,0.31,stalled cycles per insn\n"
        "1.5,Joules,power/energy-pkg/,1,100.00,,\n");
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_EQ(lines[0].count.value, 2840000u);
    EXPECT_EQ(lines[0].unit, "ns");
    EXPECT_EQ(lines[1].count.value, 1000u);
    EXPECT_EQ(lines[2].count.value, std::nullopt);
    EXPECT_THAT(lines[2].count.reason, HasSubstr("'Joules', which is no count"));
    for (const char* bad : {"nan,msec,t,1,100.00", "-1,msec,t,1,100.00", "1e999,msec,t,1,100.00",
                            "1.5,ns,t,1,100.00", "1.5,,cycles,1,100.00"}) {
        EXPECT_THROW(read_stat_csv(bad), std::invalid_argument) << bad;
    }
    const char* twice =
        R"({"event":"a","event":"b","counter-value":"1","event-runtime":1,"pcnt-running":100})";
    EXPECT_THROW(read_stat_json(twice), std::invalid_argument);
}

TEST(CountsOf, MissingIsAbsentAndTwiceIsAnError) {
    const Counts counts = counts_of(read_stat_csv("1,,cycles,1,100.00,,"));
    EXPECT_EQ(counts.cycles.value, 1u);
    EXPECT_THAT(counts.instructions.reason, HasSubstr("not asked for instructions"));
    EXPECT_THROW(counts_of(read_stat_csv("1,,cycles:u,1,100.00,,\n1,,cycles:k,1,100.00,,")),
                 std::invalid_argument);
}

}  // namespace
}  // namespace vsb::perf
