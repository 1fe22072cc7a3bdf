#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datasets/benchfmt.h"
#include "datasets/foreign_format.h"
#include "datasets/google_benchmark.h"
#include "datasets/hyperfine.h"
#include "datasets/import_error.h"
#include "datasets/iperf3.h"
#include "datasets/store_fixture.h"
#include "datasets/utc.h"

namespace vsb::datasets {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Reader = ForeignFile (*)(std::string_view, const std::string&);

std::string fixture(const std::string& name) {
    return read_bytes(std::string(VSB_SOURCE_DIR) + "/datasets/fixtures/" + name);
}

std::string fault(Reader read, const std::string& text) {
    try {
        read(text, "f");
    } catch (const ImportError& error) {
        return error.what();
    }
    return "(none)";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

// "metric value unit" of each.
std::vector<std::string> shown(const ForeignRun& run) {
    std::vector<std::string> all;
    for (const Measurement& each : run.measurements) {
        std::string value = std::to_string(each.value);
        value.erase(value.find_last_not_of('0') + 1);
        all.push_back(each.metric + " " + value + " " + each.unit);
    }
    return all;
}

TEST(ForeignFileTest, ReadsIperf3) {
    const auto file = read_iperf3(fixture("iperf3.json"), "f");
    ASSERT_EQ(file.runs.size(), 1U);
    EXPECT_EQ(file.runs[0].workload.name, "tcp/128K");
    EXPECT_EQ(file.runs[0].workload.kind, "tcp");
    EXPECT_EQ(file.runs[0].workload.payload_bytes, 131072);
    EXPECT_EQ(file.runs[0].started, "2026-11-30T16:00:00.000Z");
    EXPECT_EQ(file.runs[0].wall_time_ns, 10'040'000'000);
    // The receiver's rate, not the sender's.
    EXPECT_THAT(shown(file.runs[0]),
                testing::ElementsAre("throughput 9.920319 Gbit/s", "retransmits 8. 1",
                                     "cpu_local 39.5 %", "cpu_remote 45.75 %"));
    EXPECT_EQ(file.environment.at("iperf3.version"), "iperf 3.12");
    const auto other = read_iperf3(
        replaced(replaced(replaced(fixture("iperf3.json"), "\"reverse\": 0", "\"reverse\": 1"),
                          "\"num_streams\": 1", "\"num_streams\": 4"),
                 "131072", "1460"),
        "f");
    EXPECT_EQ(other.runs[0].workload.name, "tcp-reverse-4x/1460B");
}

TEST(ForeignFileTest, RefusesBadIperf3) {
    const std::string good = fixture("iperf3.json");
    const auto with = [&](const std::string& from, const std::string& to) {
        return fault(read_iperf3, replaced(good, from, to));
    };
    EXPECT_EQ(fault(read_iperf3, R"({"start":{},"error":"unable to connect"})"),
              "f: $.error: iperf3 itself failed: 'unable to connect'");
    EXPECT_EQ(with("9920318725.1", "0"),
              "f: $.end.sum_received.bits_per_second: it is not above zero: nothing was measured");
    EXPECT_EQ(with("9920318725.1", "-1"),
              "f: $.end.sum_received.bits_per_second: it is no number from 0");
    EXPECT_EQ(with("9920318725.1", "\"9\""),
              "f: $.end.sum_received.bits_per_second: it is no number");
    EXPECT_THAT(with("9920318725.1", "1e999"),
                StartsWith("f:15: column 45: it is no JSON: a number that no double can hold"));
    EXPECT_THAT(with("9920318725.1", "NaN"), StartsWith("f:15: column 4"));
    EXPECT_EQ(with("\"sum_received\"", "\"sum_gone\""), "f: $.end.sum_received: it is missing");
    EXPECT_EQ(with("\"TCP\"", "\"X\\u001b\""),
              "f: $.start.test_start.protocol: it holds a control character");
    EXPECT_THAT(with("\"TCP\"", "\"ICMP\""), HasSubstr("'ICMP' is none of TCP"));
    EXPECT_THAT(with("1796054400", "99999999999"), HasSubstr("past the year"));
    EXPECT_THAT(with("131072", "0"), HasSubstr("$.start.test_start.blksize: it is zero"));
    EXPECT_THAT(with("131072", "1.5"), HasSubstr("it is no whole number"));
    EXPECT_THAT(with("131072", "18446744073709551615"), HasSubstr("from 0 to 2^63 - 1"));
    EXPECT_THAT(with("\"omit\": 0", "\"bidir\": 1"), HasSubstr("both directions"));
}

TEST(ForeignFileTest, HoldsJsonsDepthKeysAndSize) {
    EXPECT_EQ(fault(read_iperf3, R"({"a":{"b":1,"b":2}})"), "f: $.a.b: it is there twice");
    EXPECT_EQ(fault(read_iperf3, R"({"a":[0,{"b c":1,"b c":2}]})"),
              "f: $.a[1]['b c']: it is there twice");
    // Far deeper than any stack would bear.
    EXPECT_THAT(fault(read_iperf3, std::string(1'000'000, '[')), HasSubstr("deeper than 64"));
    std::string deep = "{\"a\":";
    for (int i = 0; i < 63; ++i)
        deep += "{\"a\":";
    EXPECT_THAT(fault(read_iperf3, deep + "1" + std::string(64, '}')), HasSubstr("$.start"))
        << "64 levels are read";
    EXPECT_THAT(fault(read_iperf3, "{\"a\":" + deep + "1" + std::string(65, '}')),
                StartsWith("f: $.a.a.a"));
    EXPECT_THAT(fault(read_iperf3, std::string(ForeignCaps::kBytes + 1, ' ')),
                HasSubstr("larger than"));
    EXPECT_THAT(fault(read_iperf3, "{\n\"a\": 1,\n \"b\" 2}"),
                StartsWith("f:3: column 6: it is no JSON: "));
    EXPECT_THAT(fault(read_iperf3, ""), StartsWith("f:1: column 1: it is no JSON"));
    EXPECT_THAT(fault(read_iperf3, "{}{}"), StartsWith("f:1: column 3: it is no JSON"));
    EXPECT_THAT(fault(read_iperf3, "{\"a\xff\": 1}"), StartsWith("f:1: column "));
    EXPECT_THAT(fault(read_iperf3, "[1]"), HasSubstr("$: it is no object"));
    std::string many = "[";
    for (int i = 0; i < 4'000'000; ++i)
        many += "0,";
    EXPECT_THAT(fault(read_iperf3, many + "0]"), HasSubstr("more than 4000000 values"));
}

TEST(ForeignFileTest, ReadsGoogleBenchmark) {
    const auto file = read_google_benchmark(fixture("google_benchmark.json"), "f");
    ASSERT_EQ(file.runs.size(), 2U);
    EXPECT_EQ(file.runs[1].workload.name, "BM_Rx/64");
    EXPECT_EQ(file.runs[1].started, "2026-11-30T16:00:00.000Z");
    EXPECT_THAT(shown(file.runs[0]),
                testing::ElementsAre("real_time 1250. ns", "cpu_time 1200. ns",
                                     "bytes_per_second 51200000. B/s", "locks 15.5 1"));
    EXPECT_EQ(file.runs[1].measurements[0].value, 1500);
}

TEST(ForeignFileTest, RefusesBadGoogleBenchmark) {
    const std::string good = fixture("google_benchmark.json");
    const auto with = [&](const std::string& from, const std::string& to) {
        return fault(read_google_benchmark, replaced(good, from, to));
    };
    EXPECT_EQ(with("\"real_time\": 1.5", "\"real_time\": 0"),
              "f: $.benchmarks[1].real_time: it is not above zero: nothing was measured");
    EXPECT_EQ(with("\"cpu_time\": 1.4", "\"cpu_time\": -1"),
              "f: $.benchmarks[1].cpu_time: it is no number from 0");
    EXPECT_EQ(with("\"us\"", "\"weeks\""),
              "f: $.benchmarks[0].time_unit: 'weeks' is none of ns, us, ms and s");
    EXPECT_EQ(with("\"locks\": 15.5", "\"locks\": \"many\""),
              "f: $.benchmarks[0].locks: it is no number");
    EXPECT_THAT(with("\"locks\": 15.5", "\"error_occurred\": true"), HasSubstr("reports an error"));
    EXPECT_THAT(with("\"locks\": 15.5", "\"a\\nb\": 1"), HasSubstr("is no counter's"));
    EXPECT_THAT(with("\"locks\": 15.5", "\"real_time\": 1"), HasSubstr("it is there twice"));
    EXPECT_THAT(with("\"real_time\": 1.25", "\"real_time\": 1e308"), HasSubstr("it is too large"));
    EXPECT_THAT(with("\"context\"", "\"contents\""), HasSubstr("$.context: it is missing"));
    EXPECT_THAT(fault(read_google_benchmark, R"({"context":{},"benchmarks":[]})"),
                HasSubstr("there is no single run"));
}

TEST(ForeignFileTest, ReadsHyperfine) {
    const auto file = read_hyperfine(fixture("hyperfine.json"), "f");
    ASSERT_EQ(file.runs.size(), 3U);
    EXPECT_EQ(file.runs[1].workload.name, "./rx-bench --size 64");
    EXPECT_THAT(shown(file.runs[1]), testing::ElementsAre("time 0.013 s"));
    EXPECT_EQ(file.runs[2].workload.name, "./rx-bench --size 4096");
    EXPECT_EQ(file.runs[2].wall_time_ns, 500'000'000);
    EXPECT_EQ(file.runs[0].started, "");
}

TEST(ForeignFileTest, RefusesBadHyperfine) {
    const std::string good = fixture("hyperfine.json");
    const auto with = [&](const std::string& from, const std::string& to) {
        return fault(read_hyperfine, replaced(good, from, to));
    };
    EXPECT_EQ(with("[0.5]", "[0]"),
              "f: $.results[1].times[0]: it is not above zero: nothing was measured");
    EXPECT_EQ(with("[0.5]", "[]"), "f: $.results[1].times: there is none");
    EXPECT_EQ(with("[0]", "[1]"), "f: $.results[1].exit_codes[0]: the run exited with an error");
    EXPECT_EQ(with("[0]", "[null]"),
              "f: $.results[1].exit_codes[0]: the run was ended by a signal");
    EXPECT_EQ(with("size 4096", "size 64"), "f: $.results[1].command: it is there twice");
    EXPECT_EQ(with("\"./rx-bench --size 64\"", "\"\""), "f: $.results[0].command: it is empty");
    EXPECT_EQ(with("0.013]", "1e300]"), "f: $.results[0].times[1]: it is longer than thirty years");
    EXPECT_EQ(fault(read_hyperfine, R"({"results":[]})"), "f: $.results: there is none");
    EXPECT_EQ(fault(read_hyperfine, R"({"results":{}})"), "f: $.results: it is no array");
}

TEST(ForeignFileTest, ReadsBenchfmt) {
    const auto file = read_benchfmt(fixture("benchfmt.txt"), "f");
    ASSERT_EQ(file.runs.size(), 2U);
    EXPECT_EQ(file.runs[0].workload.name, "Rx/payload=64-2");
    EXPECT_THAT(shown(file.runs[1]),
                testing::ElementsAre("ns/op 1300. ns/op", "Gbit/s 0.0492 Gbit/s",
                                     "allocs/op 0. allocs/op"));
    EXPECT_EQ(file.environment.at("benchfmt.goos"), "linux");
}

TEST(ForeignFileTest, RefusesBadBenchfmt) {
    const auto line = [](const std::string& text) { return fault(read_benchfmt, "PASS\n" + text); };
    EXPECT_EQ(line("BenchmarkX 1 2 ns/op\n"), "(none)");
    EXPECT_THAT(line("ok\n"), HasSubstr("there is no line of a benchmark"));
    EXPECT_THAT(line("BenchmarkX many 2 ns/op"), StartsWith("f:2: column 12: 'many' is no number"));
    EXPECT_THAT(line("BenchmarkX 0 2 ns/op"), StartsWith("f:2: column 12:"));
    EXPECT_THAT(line("BenchmarkX 1"), HasSubstr("there is no measurement behind it"));
    EXPECT_THAT(line("BenchmarkX 1 2"), StartsWith("f:2: column 14: there is no unit"));
    for (const char* bad : {"nan", "inf", "1e999", "-2", "0x2", "2,5"}) {
        EXPECT_THAT(line(std::string("BenchmarkX 1 ") + bad + " ns/op"),
                    StartsWith("f:2: column 14: '"))
            << bad;
    }
    EXPECT_THAT(line("BenchmarkX 1 0 ns/op"), HasSubstr("it is not above zero"));
    EXPECT_THAT(line("BenchmarkX 1 2 ns/op 3 ns/op"),
                StartsWith("f:2: column 24: the unit is there twice"));
    EXPECT_THAT(line("Benchmark 1 2 ns/op"), HasSubstr("has no name"));
    EXPECT_THAT(line("BenchmarkX\x1b[2J 1 2 ns/op"), HasSubstr("control character"));
    EXPECT_THAT(line("Unit ns/op better=higher\nBenchmarkX 1 2 ns/op"),
                StartsWith("f:2: column 1: the line says that higher is better of 'ns/op'"));
    EXPECT_THAT(line("Unit ns/op better=best\n"), StartsWith("f:2: column 12: 'best' is neither"));
    EXPECT_THAT(line("BenchmarkX 1 2 " + std::string(70'000, 'u')), HasSubstr("longer than 65536"));
}

TEST(ForeignFileTest, TellsTheFormatByItsContent) {
    const std::vector<std::pair<std::string, ForeignFormat>> fixtures = {
        {"pairs.csv", ForeignFormat::csv},
        {"vsock_perf_sender.txt", ForeignFormat::vsock_perf},
        {"vsock_perf_receiver.txt", ForeignFormat::vsock_perf},
        {"vsock_perf_old.txt", ForeignFormat::vsock_perf},
        {"iperf3.json", ForeignFormat::iperf3},
        {"google_benchmark.json", ForeignFormat::google_benchmark},
        {"perf_stat.csv", ForeignFormat::perf_stat},
        {"perf_stat.json", ForeignFormat::perf_stat_json},
        {"hyperfine.json", ForeignFormat::hyperfine},
        {"benchfmt.txt", ForeignFormat::benchfmt}};
    for (const auto& [name, format] : fixtures) {
        EXPECT_EQ(format_of(fixture(name), name), format) << name;
        EXPECT_EQ(parse_foreign_format(name_of(format)), format);
    }
    EXPECT_EQ(format_of("", "f"), std::nullopt);
    EXPECT_EQ(format_of("hello\nworld\n", "f"), std::nullopt);
    EXPECT_EQ(format_of("{}", "f"), std::nullopt);
    EXPECT_EQ(format_of(fixture("benchfmt.txt") + fixture("vsock_perf_old.txt"), "f"), std::nullopt)
        << "two formats at once";
    EXPECT_THROW(format_of("{\"a\":", "f"), ImportError);
    EXPECT_THROW(parse_foreign_format("xml"), std::invalid_argument);
}

TEST(ForeignFileTest, ReadsTimesWithTheirZones) {
    EXPECT_EQ(utc_of("2026-11-30T17:05:09+01:00"), "2026-11-30T16:05:09.000Z");
    EXPECT_EQ(utc_of("2026-12-31T23:30:00.25-01:30"), "2027-01-01T01:00:00.250Z");
    EXPECT_EQ(utc_of("1970-01-01T00:00:00Z"), "1970-01-01T00:00:00.000Z");
    for (const char* bad :
         {"", "2026-11-30T17:05:09", "2026-02-30T00:00:00Z", "2026-11-30 17:05:09Z",
          "2026-11-30T24:00:00Z", "2026-11-30T17:05:09+1:00", "9999-01-01T00:00:00Z",
          "2026-11-30T17:05:09.Z", "2026-11-30T17:05:09Zx", "2026-11-30T17:05:09+01:00:00"}) {
        EXPECT_EQ(utc_of(bad), std::nullopt) << bad;
    }
}

}  // namespace
}  // namespace vsb::datasets
