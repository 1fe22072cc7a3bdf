// End to end: `vsockbench sweep` and what it records.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "datasets/store.h"
#include "harness/cli/program.h"
#include "harness/scratch_folder.h"

namespace vsb::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// As one line: where it was broken does not matter.
std::string unwrapped(const std::string& text) {
    std::string out;
    for (const char c : text) {
        const bool blank = c == ' ' || c == '\n';
        if (!blank || (!out.empty() && out.back() != ' ')) out += blank ? ' ' : c;
    }
    return out;
}

class SweepProgramTest : public testing::Test {
  protected:
    std::string db() const { return folder_.file("runs.db").string(); }
    Finished run(std::vector<std::string> arguments) {
        arguments.insert(arguments.end(), {"--db", db()});
        return run_program(arguments);
    }
    void expect_refused(const std::vector<std::string>& arguments, const std::string& says) {
        const Finished f = run(arguments);
        EXPECT_EQ(f.exit_code, 2) << f.err;
        EXPECT_THAT(f.err, HasSubstr(says));
        EXPECT_EQ(std::ranges::count(f.err, '\n'), 1) << f.err;
        EXPECT_FALSE(std::filesystem::exists(db())) << "a store was made for nothing";
    }
    vsb::harness::ScratchFolder folder_;
};

// The truth is known: B is level/2 above A, so the best of these is 6, and no other is near.
const std::vector<std::string> kFake{"sweep",   "fake",       "--a",    "level=2",
                                     "--b",     "noise=0.01", "--over", "level=3,6,5",
                                     "--pairs", "6",          "--seed", "7"};

TEST_F(SweepProgramTest, FindsTheKnownBestAndRecordsEveryPointInterleaved) {
    std::vector<std::string> arguments = kFake;
    arguments.push_back("--json");
    const Finished f = run(arguments);
    ASSERT_EQ(f.exit_code, 0) << f.err;
    const json result = json::parse(f.out);
    ASSERT_EQ(result["points"].size(), 3U);
    EXPECT_EQ(result["points"][1]["parameters"], (json{{"level", 6}}));
    EXPECT_NEAR(result["points"][1]["change"], 2, 0.1);
    EXPECT_EQ(result["maximum"][0]["parameters"], (json{{"level", 6}}));
    EXPECT_EQ(result["maximum"][0]["candidates"], (json::array({{{"level", 6}}})));

    const auto store = datasets::Store::open(db(), datasets::OpenMode::read_only);
    const auto record = store.find("last");
    EXPECT_EQ(record.workloads.size(), 3U);
    EXPECT_EQ(record.workloads[0].name, "fixed/64B/level=3");
    EXPECT_EQ(record.pairs, 6);
    // In every round each point has its pair before any has its next.
    const auto trials = store.trials(record.id);
    ASSERT_EQ(trials.size(), 36U);
    for (std::size_t round = 0; round < 6; ++round) {
        std::set<datasets::Id> points;
        for (std::size_t i = 0; i < 6; ++i) {
            EXPECT_EQ(trials[round * 6 + i].pair, static_cast<std::int64_t>(round + 1));
            points.insert(trials[round * 6 + i].workload_id);
        }
        EXPECT_EQ(points.size(), 3U);
    }
    // Printed again without measuring, and as a page.
    const Finished again = run({"sweep", "--resume", "last"});
    EXPECT_EQ(again.exit_code, 0) << again.err;
    EXPECT_THAT(again.out, HasSubstr("the greatest change is at level=6"));
    EXPECT_EQ(run({"report", "last", "--format", "html"}).exit_code, 0);
    EXPECT_EQ(datasets::Store::open(db(), datasets::OpenMode::read_only).trials(record.id).size(),
              36U);
}

TEST_F(SweepProgramTest, LostPairsAreSaidAndResumed) {
    std::vector<std::string> arguments = kFake;
    arguments[5] = "noise=0.01,fail-pair=2";
    const Finished f = run(arguments);
    EXPECT_EQ(f.exit_code, 3) << f.err;
    EXPECT_THAT(f.err, HasSubstr("vsockbench sweep --resume 1"));
    EXPECT_THAT(unwrapped(f.out), HasSubstr("of the 5 rounds"));
    const Finished resumed = run({"sweep", "--resume", "1"});
    EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
    EXPECT_THAT(unwrapped(resumed.out), HasSubstr("of the 6 rounds"));
}

TEST_F(SweepProgramTest, TheEngineIsSweptWithTheBoundsGrown) {
    const Finished f = run({"sweep", "virtio-vsock-rx", "--over", "max-pkts=1,64,256", "--pairs",
                            "2", "--bytes-scale", "0.002", "--b",
                            "policy=deferred-notify,buf-alloc=4M", "--seed", "3"});
    ASSERT_EQ(f.exit_code, 0) << f.err;
    EXPECT_THAT(unwrapped(f.out), HasSubstr("max-pkts=256: ring-size=512, max-bytes=1M"));
    EXPECT_THAT(f.out, HasSubstr("B, PATCH: policy=deferred-notify,buf-alloc=4M"));
    const auto store = datasets::Store::open(db(), datasets::OpenMode::read_only);
    const auto record = store.find("last");
    // Locks a packet fall with the bound, in B alone.
    for (const auto& series : store.paired(record.id)) {
        if (series.metric != "locks_per_packet") continue;
        for (const auto& pair : series.pairs) {
            EXPECT_NEAR(pair.a, 1, 0.01) << series.workload;
            if (series.workload.ends_with("max-pkts=1")) {
                EXPECT_NEAR(pair.b, 1, 0.01);
            } else {
                EXPECT_LT(pair.b, 0.2) << series.workload;
            }
        }
    }
}

// The presets of the other systems: their figures, units and the counts that explain them.
TEST_F(SweepProgramTest, PresetsPrintTheTableOfTheirKind) {
    struct Expected {
        const char* preset;
        const char* workload;
        const char* unit;
        const char* shown;
    };
    for (const Expected& e :
         {Expected{"vhost-net-rx-v2", "fixed/64B/batch=256", "Mpps", "locks/packet"},
          Expected{"dgram-sendmsg-v4", "fixed/4K/threads=16", "MB/s", "locks/packet"},
          Expected{"vhost-vsock-used-v3", "fixed/64K", "Gbit/s", "publications/packet"}}) {
        const Finished f = run({"run", e.preset, "--pairs", "2", "--bytes-scale", "0.002"});
        ASSERT_EQ(f.exit_code, 0) << e.preset << f.err;
        const Finished text = run({"compare", "last"});
        EXPECT_THAT(text.out, HasSubstr(std::string(e.shown) + " A/B")) << e.preset;
        const json result = json::parse(run({"compare", "last", "--json"}).out);
        bool found = false;
        for (const json& row : result["rows"]) {
            if (row["workload"] != e.workload || !row["headline"].get<bool>()) continue;
            found = true;
            EXPECT_EQ(row["unit"], e.unit);
            EXPECT_EQ(row["better"], "higher");
            EXPECT_EQ(row.contains("beside"), std::string(e.preset) == "vhost-vsock-used-v3");
        }
        EXPECT_TRUE(found) << e.preset;
    }
}

TEST_F(SweepProgramTest, WhatIsNoSweepIsRefused) {
    expect_refused({"sweep"}, "no SYSTEM is given (choose from virtio-vsock-rx");
    expect_refused({"sweep", "warp", "--over", "x=1,2"}, "there is no engine system 'warp'");
    expect_refused({"sweep", "virtio-vsock-rx"}, "0 parameters are given");
    expect_refused({"sweep", "virtio-vsock-rx", "--over", "max-pkts"}, "is not NAME=VALUE");
    expect_refused({"sweep", "virtio-vsock-rx", "--over", "max-pkts=8"}, "one value is no sweep");
    expect_refused({"sweep", "virtio-vsock-rx", "--over", "max-pkts=1,2", "--over", "flows=1,2",
                    "--over", "payload=64,1K"},
                   "3 parameters are given");
    expect_refused({"sweep", "virtio-vsock-rx", "--over", "batch=1,2"}, "no parameter 'batch'");
    expect_refused({"sweep", "virtio-vsock-rx", "--over", "payload=64,1K", "--payload", "64"},
                   "--payload");
    expect_refused({"sweep", "vhost-net-rx", "--over", "batch=1,2", "--workload", "rtt"},
                   "measures throughput only");
    expect_refused({"sweep", "vhost-net-rx", "--over", "batch=1,2", "--workload", "fixed,matched"},
                   "a sweep has one");
    expect_refused(
        {"sweep", "virtio-vsock-rx", "--over", "flows=1,2", "--a", "system=vhost-net-rx"},
        "its system is not virtio-vsock-rx");
}

}  // namespace
}  // namespace vsb::cli
