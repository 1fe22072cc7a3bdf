// Import and export, end to end: the built program as a child.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "datasets/import_error.h"
#include "datasets/store.h"
#include "harness/cli/perf_runs.h"
#include "harness/cli/program.h"
#include "harness/scratch_folder.h"

namespace vsb::cli {
namespace {

using datasets::OpenMode;
using datasets::Store;
using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

class ImportTest : public testing::Test {
  protected:
    Finished run(std::vector<std::string> arguments, const ProgramOptions& options = {}) {
        arguments.insert(arguments.end(), {"--db", db()});
        return run_program(arguments, options);
    }
    std::string db() const { return folder_.file("runs.db").string(); }
    std::string fixture(const std::string& name) const {
        return std::string(VSB_SOURCE_DIR) + "/datasets/fixtures/" + name;
    }
    // A sender's log, 64 MiB in buffers of 64 B.
    std::string log(const std::string& name, double gbit_s) const {
        char text[300];
        std::snprintf(text, sizeof text,
                      "Run as sender\nConnect to 3:1234\nSend 67108864 bytes\nTX buffer 64 bytes\n"
                      "total bytes sent: 67108864\ntx performance: %f Gbits/s\n"
                      "total time in 'write()': %f sec\n",
                      gbit_s, 67108864 * 8 / 1e9 / gbit_s);
        return folder_.write(name, text).string();
    }
    void expect_refused(const std::vector<std::string>& arguments, const std::string& says) {
        const Finished f = run(arguments);
        EXPECT_EQ(f.exit_code, 2) << f.err;
        EXPECT_EQ(f.out, "");
        EXPECT_THAT(f.err, StartsWith("vsockbench: "));
        EXPECT_THAT(f.err, HasSubstr(says));
        EXPECT_EQ(std::ranges::count(f.err, '\n'), 1) << f.err;
        EXPECT_FALSE(std::filesystem::exists(db())) << "a store was made for nothing";
    }

    vsb::harness::ScratchFolder folder_;
};

TEST_F(ImportTest, AFolderOfLogsIsRecordedComparedAndRecordedOnce) {
    const std::string a1 = log("a1.txt", 0.100);
    const std::string b1 = log("b1.txt", 0.150);
    const std::string b2 = log("b2.txt", 0.152);
    const std::string a2 = log("a2.txt", 0.102);
    const Finished f = run({"import", "--order", "ABBA", a1, b1, b2, a2, "--json"});
    ASSERT_EQ(f.exit_code, 0) << f.err;
    const json import = json::parse(f.out).at("imports").at(0);
    EXPECT_EQ(import.at("experiment"), 1);
    EXPECT_EQ(import.at("format"), "vsock_perf");
    EXPECT_EQ(import.at("new"), true);
    EXPECT_EQ(import.at("workloads"),
              (json::array({{{"name", "tx/64B"}, {"pairs", 2}, {"n_ab", 1}, {"n_ba", 1}}})));
    const Finished again = run({"import", "--order", "ABBA", "--a", a1, a2, "--b", b1, b2});
    EXPECT_EQ(again.exit_code, 0) << again.err;
    EXPECT_THAT(again.out, HasSubstr("experiment 1 ("));
    EXPECT_THAT(again.out, HasSubstr("recorded before: nothing is new\n  tx/64B: 2 pairs (1 AB, "
                                     "1 BA)\n"));
    EXPECT_EQ(Store::open(db(), OpenMode::read_only).experiments().size(), 1U);

    const json row = json::parse(run({"compare", "last", "--json"}).out).at("rows").at(0);
    EXPECT_NEAR(row.at("change").get<double>(), std::sqrt(0.150 / 0.100 * 0.152 / 0.102) - 1, 1e-9);
    EXPECT_EQ(row.at("n_ab"), 1);
    EXPECT_EQ(row.at("n_ba"), 1);
    EXPECT_EQ(row.at("unit"), "Gbit/s");
    const std::string letter = run({"report", "last", "--format", "cover-letter"}).out;
    EXPECT_THAT(letter, HasSubstr("a1.txt"));
    EXPECT_THAT(letter, HasSubstr("not checked by vsockbench"));
    EXPECT_EQ(letter.find("randomised"), std::string::npos);
}

TEST_F(ImportTest, WhatIsAmbiguousIsRefusedAndNothingIsStored) {
    const std::string a = log("a.txt", 0.1);
    const std::string b = log("b.txt", 0.2);
    const std::string csv = fixture("pairs.csv");
    expect_refused({"import"}, "there is none");
    expect_refused({"import", a}, "does not say which state it is of");
    expect_refused({"import", "--a", a}, "one state alone is no comparison");
    expect_refused({"import", "--a", a, "--b", b}, "which of the two was made first");
    const std::string a2 = log("a2.txt", 0.11);
    expect_refused({"import", "--order", "AB", a, b, a2}, "has 2 runs in state A and 1 in state B");
    expect_refused({"import", "--order", "ABBA", a, b, b, a2}, "b.txt: it is ");
    expect_refused({"import", "--order", "AB", a}, "no partner");
    expect_refused({"import", "--order", "AABB", a, b}, "--order: 'AABB' is no order");
    expect_refused({"import", "--order", "AB", a, csv}, "a CSV of pairs");
    expect_refused({"import", "--order", "AB", csv}, "which says itself");
    expect_refused({"import", "--order", "AB", a, fixture("hyperfine.json")},
                   "figures of two programs are no pair");
    expect_refused({"import", "--from", "xml", a}, "--from: 'xml' is unknown");
    expect_refused({"import", "--from", "iperf3", "--order", "AB", a, b},
                   "a.txt:1: column 1: it is no");
    expect_refused({"import", "--order", "AB", a, folder_.path().string()}, "it is a folder");
    expect_refused({"import", "--order", "AB", a, folder_.file("none").string()},
                   "none: it cannot be read: No such file");
    expect_refused({"import", folder_.write("x", "hello\x1b[2J\n").string()}, "cannot be told");
    const std::string bad =
        folder_.write("bad.csv", "workload,pair,order,state,value\nw,1,AB,A,0\n");
    expect_refused({"import", csv, bad}, "bad.csv:2: column value");
}

TEST_F(ImportTest, EveryFormatIsRead) {
    struct Case {
        const char* file;
        const char* format;
        const char* workload;
        std::size_t pairs;
    };
    for (const Case& each : {Case{"vsock_perf_sender.txt", "vsock_perf", "tx/64B", 1},
                             {"vsock_perf_receiver.txt", "vsock_perf", "rx/64K", 1},
                             {"google_benchmark.json", "google-benchmark", "BM_Rx/64", 2},
                             {"hyperfine.json", "hyperfine", "./rx-bench --size 64", 2},
                             {"benchfmt.txt", "benchfmt", "Rx/payload=64-2", 2},
                             {"perf_stat.csv", "perf-stat", "perf-stat", 1},
                             {"perf_stat.json", "perf-stat-json", "perf-stat", 1},
                             {"iperf3.json", "iperf3", "tcp/128K", 1}}) {
        const std::string file = fixture(each.file);
        const Finished f = run({"import", "--a", file, "--b", file, "--order", "AB", "--json"});
        ASSERT_EQ(f.exit_code, 0) << f.err;
        const json import = json::parse(f.out).at("imports").at(0);
        EXPECT_EQ(import.at("format"), each.format);
        EXPECT_EQ(import.at("workloads").at(0).at("name"), each.workload);
        EXPECT_EQ(import.at("workloads").at(0).at("pairs"), each.pairs);
        EXPECT_EQ(run({"compare", "last"}).exit_code, 0);
    }
    ProgramOptions in;
    in.in = vsb::harness::file_text(fixture("pairs.csv"));
    const Finished f = run({"import", "-", "--name", "mine"}, in);
    EXPECT_EQ(f.out, "experiment 9 (mine): csv, recorded\n  fixed/64B: 2 pairs (1 AB, 1 BA)\n");
}

TEST_F(ImportTest, TimesInTheFilesTellTheOrder) {
    const std::string text = vsb::harness::file_text(fixture("iperf3.json"));
    std::vector<std::string> files;
    for (const char* second : {"400", "420", "440", "460"}) {
        std::string copy = text;
        copy.replace(copy.find("1796054400") + 7, 3, second);
        files.push_back(folder_.write(std::string("i") + second, copy).string());
    }
    const Finished f = run({"import", "--a", files[0], files[3], "--b", files[1], files[2]});
    EXPECT_EQ(f.exit_code, 0) << f.err;
    EXPECT_THAT(f.out, HasSubstr("tcp/128K: 2 pairs (1 AB, 1 BA)"));
}

TEST_F(ImportTest, AnExportedCsvComparesToTheSameFigures) {
    ASSERT_EQ(run({"run", "--target", "fake", "--a", "level=2,noise=0.01", "--b", "level=3",
                   "--pairs", "4", "--payloads", "64,4K"})
                  .exit_code,
              0);
    const std::string csv = folder_.file("pairs.csv").string();
    ASSERT_EQ(run({"export", "last", "--format", "csv", "-o", csv}).exit_code, 0);
    const json rows = json::parse(run({"compare", "last", "--json"}).out).at("rows");
    EXPECT_GE(rows.size(), 6U);
    EXPECT_EQ(json::parse(run({"compare", csv, "--json"}).out).at("rows"), rows);
    ASSERT_EQ(run({"import", csv}).exit_code, 0);
    EXPECT_EQ(json::parse(run({"compare", "2", "--json"}).out).at("rows"), rows);
}

TEST_F(ImportTest, EveryExportIsWrittenAndItsOptionsAreHeldToTheirFormats) {
    ASSERT_EQ(run({"run", "--target", "fake", "--b", "level=2", "--pairs", "2", "--payloads", "64"})
                  .exit_code,
              0);
    for (const char* format : {"google-benchmark", "bmf", "kcidb"}) {
        const Finished f = run({"export", "last", "--format", format});
        EXPECT_EQ(f.exit_code, 0) << f.err;
        EXPECT_TRUE(json::accept(f.out)) << format;
    }
    for (const char* format : {"csv", "jsonl", "benchfmt"})
        EXPECT_NE(run({"export", "last", "--format", format}).out, "") << format;
    const std::vector<std::string> action = {"export", "last", "--format",
                                             "github-action-benchmark"};
    EXPECT_THAT(run(action).err, HasSubstr("a file has one direction"));
    auto lower = action;
    lower.insert(lower.end(), {"--better", "lower"});
    EXPECT_EQ(run(lower).exit_code, 0);
    EXPECT_EQ(run({"export", "last", "--format", "csv", "--state", "A"}).exit_code, 2);
    EXPECT_EQ(run({"export", "last", "--format", "bmf", "--origin", "ci"}).exit_code, 2);
    EXPECT_EQ(run({"export", "last", "--format", "kcidb", "--origin", "C I"}).exit_code, 2);
    EXPECT_EQ(run({"export", "last", "--format", "bmf", "--state", "Z"}).exit_code, 2);
    EXPECT_EQ(run({"export", "7", "--format", "csv"}).exit_code, 2);
    EXPECT_EQ(run({"export", "last", "--format", "xml"}).exit_code, 2);
}

TEST(PerfRunsTest, EventsBecomeMetrics) {
    const std::string folder = std::string(VSB_SOURCE_DIR) + "/datasets/fixtures/";
    const auto file = read_perf_stat(vsb::harness::file_text(folder + "perf_stat.csv"), "p");
    ASSERT_EQ(file.runs.size(), 1U);
    const auto& measured = file.runs[0].measurements;
    ASSERT_EQ(measured.size(), 3U);
    EXPECT_EQ(measured[0].metric, "task-clock");
    EXPECT_EQ(measured[0].unit, "ns");
    EXPECT_EQ(measured[0].value, 2'840'000);
    EXPECT_EQ(measured[2].metric, "instructions");
    EXPECT_EQ(measured[2].unit, "1");
    ASSERT_EQ(file.notes.size(), 1U);
    EXPECT_THAT(file.notes[0], StartsWith("branch-misses: this machine has no such"));
    EXPECT_EQ(read_perf_stat("5;;cycles;1000;100.00;;\n", "p").runs[0].measurements[0].value, 5);
    const auto refused = [](const std::string& text) {
        try {
            read_perf_stat(text, "p");
        } catch (const datasets::ImportError& error) {
            return std::string(error.what());
        }
        return std::string("(none)");
    };
    EXPECT_THAT(refused("5,,cycles,1,100.00\n6,,cycles,1,100.00\n"), HasSubstr("is there twice"));
    EXPECT_THAT(refused("<not supported>,,cycles,0,100.00\n"), HasSubstr("no event was counted"));
    EXPECT_THAT(refused("nan,msec,task-clock,1,100.00\n"),
                HasSubstr("p: perf stat, line 1: 'nan'"));
    EXPECT_THAT(refused("-1,msec,task-clock,1,100.00\n"), HasSubstr("is no time in msec"));
    EXPECT_THAT(refused(""), HasSubstr("no event"));
    EXPECT_THAT(refused("#\n#"), HasSubstr("no event"));
    EXPECT_THAT(refused("5.2,Joules,energy,1,100.00\n"),
                HasSubstr("in 'Joules', which is no count"));
    EXPECT_THROW(read_perf_stat_json("{\"event\":\"a\",\"event\":\"b\",\"counter-value\":\"1\","
                                     "\"event-runtime\":1,\"pcnt-running\":100}\n",
                                     "p"),
                 datasets::ImportError);
}

}  // namespace
}  // namespace vsb::cli
