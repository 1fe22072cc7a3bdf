// End to end: audit and published tables through the built program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/cli/program.h"
#include "harness/scratch_folder.h"

namespace vsb::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

class AuditProgram : public testing::Test {
  protected:
    static Finished audited(const std::string& text, std::vector<std::string> more = {}) {
        more.insert(more.begin(), {"audit", "-"});
        ProgramOptions options;
        options.in = text;
        return run_program(more, options);
    }

    vsb::harness::ScratchFolder folder_;
};

TEST_F(AuditProgram, PublishedTablesGoThroughIt) {
    const Finished v5 = run_program({"report", "published:vsock-rx-batching-v5"});
    EXPECT_EQ(v5.exit_code, 0) << v5.err;
    EXPECT_THAT(v5.err, HasSubstr("[PATCH net-next v5 0/5]"));
    const Finished found = audited(v5.out, {"--pairs", "16"});
    EXPECT_EQ(found.exit_code, 0) << found.out;
    EXPECT_THAT(found.out, HasSubstr("75 rows: 75 consistent, 0 inconsistent, 0 not checkable"));

    std::string wrong = v5.out;
    wrong.replace(wrong.find("+9.47%"), 6, "+9.49%");
    const Finished named = audited(wrong, {"--json"});
    EXPECT_EQ(named.exit_code, 1);
    const auto rows = json::parse(named.out)["rows"];
    EXPECT_EQ(rows[6]["label"], "16K");
    EXPECT_EQ(rows[6]["verdict"], "inconsistent");
    EXPECT_TRUE(rows[6]["se"].is_null());  // nothing says how many pairs
}

TEST_F(AuditProgram, PublishedNamesAndFormats) {
    const Finished unknown = run_program({"report", "published:?"});
    EXPECT_EQ(unknown.exit_code, 2);
    EXPECT_THAT(unknown.err, HasSubstr("vhost-vsock-used-ring-v3"));
    EXPECT_EQ(run_program({"report", "published:vsock-rx-batching-v1", "--json"}).exit_code, 2);
    const Finished csv =
        run_program({"report", "published:vsock-rx-batching-v1", "--format", "csv"});
    EXPECT_THAT(csv.out, StartsWith("record,table,text,label,a,b,change,low,high,recv_a,recv_b\n"));
    const std::string file = folder_.file("tables.txt").string();
    EXPECT_EQ(run_program({"report", "published:vsock-rx-batching-v1", "-o", file}).out, "");
    EXPECT_EQ(run_program({"audit", file}).exit_code, 0);
}

TEST_F(AuditProgram, BadInputAndOptions) {
    const auto refused = [](const Finished& f, const char* says) {
        EXPECT_EQ(f.exit_code, 2);
        EXPECT_EQ(f.out, "");
        EXPECT_THAT(f.err, HasSubstr(says));
        EXPECT_EQ(std::ranges::count(f.err, '\n'), 1) << f.err;
    };
    refused(run_program({"audit"}), "FILE");
    refused(run_program({"audit", "no-such.txt"}), "no-such.txt: cannot be read: No such file");
    refused(run_program({"audit", folder_.path().string()}), "cannot be read: Is a directory");
    refused(audited("", {"--pairs", "1"}), "--pairs: '1' is not between");
    refused(audited("", {"--confidence", "95"}), "--confidence: ");
    refused(audited("", {"--method", "bca"}), "--method: 'bca' is unknown");
    const auto large = folder_.write("large.txt", "64B 1.0 2.0 +100.0%\n");
    std::filesystem::resize_file(large, (std::uintmax_t{8} << 20) + 1);
    refused(run_program({"audit", large.string()}), "longer than 8 MiB");
    std::filesystem::resize_file(large, std::uintmax_t{8} << 20);
    EXPECT_THAT(run_program({"audit", large.string()}).out, HasSubstr("1 row: 1 consistent"));
    const Finished nothing = audited("no table here\n");
    EXPECT_EQ(nothing.exit_code, 0);
    EXPECT_THAT(nothing.out, HasSubstr("0 rows"));
    EXPECT_THAT(nothing.err, HasSubstr("no row of a table"));
}

TEST_F(AuditProgram, WhatARunReportsIsConsistent) {
    const std::string db = folder_.file("runs.db").string();
    const Finished run =
        run_program({"run", "--payloads", "64,1K,4K", "--workload", "fixed,matched,rtt", "--pairs",
                     "4", "--bytes-scale", "0.002", "--seed", "11", "--quiet", "--db", db});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    for (const char* format : {"cover-letter", "markdown", "text"}) {
        const Finished report = run_program({"report", "last", "--format", format, "--db", db});
        ASSERT_EQ(report.exit_code, 0) << report.err;
        const Finished found = audited(report.out, {"--json"});
        EXPECT_EQ(found.exit_code, 0) << report.out << found.out;
        const auto result = json::parse(found.out);
        EXPECT_GE(result["consistent"], 9) << report.out;
        EXPECT_EQ(result["not_checkable"], 0) << report.out << found.out;
        EXPECT_EQ(result["rows"][0]["pairs"], 4) << report.out;
        EXPECT_TRUE(result["rows"][0]["se"].is_number());
    }
}

// Three states of a series in one letter: each comparison is an experiment of its own.
TEST_F(AuditProgram, ASeriesInOneLetter) {
    const std::string db = folder_.file("series.db").string();
    const auto level = [](const char* l) { return std::string("noise=0.01,level=") + l; };
    for (const auto& [a, b] : {std::pair{"2", "4"}, {"2", "3"}, {"3", "4"}}) {
        const Finished run =
            run_program({"run", "--target", "fake", "--a", level(a), "--b", level(b), "--pairs",
                         "4", "--payloads", "64,4K", "--seed", "7", "--quiet", "--db", db});
        ASSERT_EQ(run.exit_code, 0) << run.err;
    }
    const std::string names = "baseline:P1-P5,baseline:P1-P3,P1-P3:P1-P5";
    const Finished letter = run_program({"report", "1", "2", "3", "--states", names, "--db", db});
    ASSERT_EQ(letter.exit_code, 0) << letter.err;
    for (const char* said :
         {"  baseline     noise=0.01,level=2\n", "  P1-P3        noise=0.01,level=3\n",
          "\nP1-P5 (B) against baseline (A):\n", "\nP1-P5 (B) against P1-P3 (A):\n",
          "P1-P3 RX  P1-P5 RX"}) {
        EXPECT_THAT(letter.out, HasSubstr(said));
    }
    EXPECT_EQ(audited(letter.out).exit_code, 0);
    const auto refused = [&](std::vector<std::string> arguments, const char* says) {
        arguments.insert(arguments.end(), {"--db", db});
        const Finished f = run_program(arguments);
        EXPECT_EQ(f.exit_code, 2);
        EXPECT_THAT(f.err, HasSubstr(says));
    };
    refused({"report", "1", "2"}, "--states: names the states of 0 experiments, and there are 2");
    refused({"report", "1", "--states", "baseline"}, "'baseline' is not A:B");
    refused({"report", "1", "2", "--states", "a:b,b:c"}, "--states: the state ");
    refused({"report", "1", "2", "--states", names, "--json"}, "make a cover letter");
    refused({"report", "1", "published:x"}, "goes with no other");
}

}  // namespace
}  // namespace vsb::cli
