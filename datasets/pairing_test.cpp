#include "datasets/pairing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "datasets/csv.h"
#include "datasets/store_fixture.h"

namespace vsb::datasets {
namespace {

using testing::HasSubstr;

StateFile state_file(const std::string& name, const std::vector<double>& values,
                     const std::string& started = "", const std::string& workload = "tx/64B") {
    StateFile file{name, {}};
    file.file.format = "test";
    for (const double value : values) {
        ForeignRun run;
        run.workload.name = workload;
        run.workload.kind = "tx";
        run.started = started;
        run.measurements = {{"throughput", "Gbit/s", value}};
        file.file.runs.push_back(run);
    }
    return file;
}

std::string fault(const std::vector<StateFile>& a, const std::vector<StateFile>& b,
                  const PairingOptions& options) {
    try {
        pair_files(a, b, options);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "(none)";
}

// What a comparison of the imported would see.
std::vector<PairedSeries> stored(const PairedRuns& runs) {
    const ScratchFolder folder;
    Store store = Store::open(folder.file("s.db"), OpenMode::read_write);
    NewExperiment experiment = runs.experiment;
    experiment.name = "i";
    const auto imported =
        store.import(experiment, runs.trials, ExperimentStatus::finished, "content");
    return store.paired(imported.experiment.id);
}

std::string shown(const PairedSeries& series) {
    std::ostringstream out;
    for (const PairedValue& pair : series.pairs) {
        out << pair.pair << (pair.order == PairOrder::ab ? "AB" : "BA") << pair.a << "/" << pair.b
            << " ";
    }
    return out.str();
}

const std::vector<StateFile> kA = {state_file("a1", {1}), state_file("a2", {2}),
                                   state_file("a3", {3})};
const std::vector<StateFile> kB = {state_file("b1", {10}), state_file("b2", {20}),
                                   state_file("b3", {30})};

TEST(PairingTest, PairsInTheOrderGivenWithTheOrderSaid) {
    const auto runs = pair_files(kA, kB, {"ABBA", ""});
    EXPECT_EQ(runs.experiment.target, "import");
    EXPECT_EQ(runs.experiment.pairs, 3);
    EXPECT_TRUE(runs.experiment.environment.empty());
    const auto series = stored(runs);
    ASSERT_EQ(series.size(), 1U);
    EXPECT_EQ(shown(series[0]), "1AB1/10 2BA2/20 3AB3/30 ");
    EXPECT_EQ(shown(stored(pair_files(kA, kB, {"BA", ""}))[0]), "1BA1/10 2BA2/20 3BA3/30 ");
}

TEST(PairingTest, TakesTheOrderFromTheTimesWhereThereAreSome) {
    const auto at = [](const std::string& name, double value, int minute) {
        return state_file(name, {value},
                          "2026-11-30T16:" + std::to_string(10 + minute) + ":00.000Z");
    };
    const std::vector<StateFile> a = {at("a1", 1, 0), at("a2", 2, 3)};
    const std::vector<StateFile> b = {at("b1", 10, 1), at("b2", 20, 2)};
    const auto runs = pair_files(a, b, {});
    EXPECT_EQ(shown(stored(runs)[0]), "1AB1/10 2BA2/20 ");
    EXPECT_FALSE(runs.experiment.environment.contains("warning.not-interleaved"));
    EXPECT_EQ(fault(a, b, {"ABBA", ""}), "(none)");
    EXPECT_THAT(fault(a, b, {"ABAB", ""}), HasSubstr("pair 2 is AB, but by their times a2"));
    const std::vector<StateFile> b_later = {at("b1", 10, 11), at("b2", 20, 12)};
    EXPECT_TRUE(
        pair_files(a, b_later, {}).experiment.environment.contains("warning.not-interleaved"));
    EXPECT_THAT(fault({at("a", 1, 0)}, {at("b", 1, 0)}, {}), HasSubstr("--order ABBA"))
        << "one and the same time says nothing";
}

TEST(PairingTest, RunsOfOneFileArePairedAndDoubted) {
    const auto runs = pair_files(std::vector{state_file("a", {1, 2})},
                                 std::vector{state_file("b", {10, 20})}, {"AB", ""});
    EXPECT_EQ(shown(stored(runs)[0]), "1AB1/10 2AB2/20 ");
    EXPECT_TRUE(runs.experiment.environment.contains("warning.not-interleaved"));
}

TEST(PairingTest, RefusesWhatIsAmbiguous) {
    EXPECT_THAT(fault(kA, kB, {}), HasSubstr("which of the two was made first is not in them"));
    EXPECT_THAT(fault(kA, {kB[0]}, {"AB", ""}),
                HasSubstr("has 3 runs in state A and 1 in state B"));
    EXPECT_THAT(fault(kA, {}, {"AB", ""}), HasSubstr("each state needs a file"));
    for (const char* order : {"A", "AA", "ABA", "ab", "AB BA", "ABAABB"}) {
        EXPECT_THAT(fault(kA, kB, {order, ""}), HasSubstr("is no order of runs")) << order;
    }
    EXPECT_THAT(fault(kA, kB, {"ABBAABBA", ""}), HasSubstr("is 4 pairs, and there are 3"));
    const auto other = state_file("b", {1}, "", "tx/4K");
    EXPECT_THAT(fault({kA[0]}, {other}, {"AB", ""}),
                HasSubstr("a1: workload 'tx/64B' has no run in state B, which has 'tx/4K'"));
    EXPECT_EQ(fault({kA[0]}, {other}, {"AB", "both"}), "(none)");
    auto two = kA[0];
    two.file.runs.push_back(other.file.runs[0]);
    EXPECT_THAT(fault({two}, {other}, {"AB", "both"}), HasSubstr("one name cannot stand for both"));
    auto unit = state_file("b", {1});
    unit.file.runs[0].measurements[0].unit = "MB/s";
    EXPECT_THAT(fault({kA[0]}, {unit}, {"AB", ""}), HasSubstr("'Gbit/s', and b"));
}

TEST(PairingTest, KeepsOfTheEnvironmentWhatHoldsOfAll) {
    auto a = state_file("a", {1});
    auto b = state_file("b", {1});
    a.file.environment = {{"v", "1"}, {"host", "x"}, {"only", "a"}};
    b.file.environment = {{"v", "2"}, {"host", "x"}};
    const auto runs = pair_files(std::vector{a}, std::vector{b}, {"AB", ""});
    EXPECT_EQ(runs.experiment.environment, (std::map<std::string, std::string>{{"host", "x"}}));
}

TEST(PairingTest, ACsvOfPairsIsStoredAsItIs) {
    const std::string text =
        "workload,pair,order,state,value,metric,unit\n"
        "w/x,7,BA,B,2,throughput,Gbit/s\nw/x,7,BA,A,1,throughput,Gbit/s\n"
        "w/x,7,BA,B,20,calls,1\nw/x,7,BA,A,10,calls,1\n"
        "v,0,AB,A,3,,\nv,0,AB,B,4,,\n"
        "w/x,3,AB,A,5,throughput,Gbit/s\nw/x,3,AB,B,6,throughput,Gbit/s\n";
    std::istringstream in(text);
    const auto runs = pair_series(read_csv(in, "c", {}));
    EXPECT_EQ(runs.experiment.workloads[0].kind, "w");
    const auto series = stored(runs);
    ASSERT_EQ(series.size(), 3U);
    EXPECT_EQ(series[0].metric, "throughput");
    EXPECT_EQ(shown(series[0]), "1BA1/2 2AB5/6 ");
    EXPECT_EQ(series[1].metric, "calls");
    EXPECT_EQ(shown(series[1]), "1BA10/20 ");
    EXPECT_FALSE(series[1].higher_is_better);
    EXPECT_EQ(series[2].workload, "v");
    EXPECT_EQ(shown(series[2]), "1AB3/4 ");
    std::istringstream mixed(
        "workload,pair,order,state,value,metric\nw,1,AB,A,1,m\nw,1,AB,B,1,m\n"
        "w,1,BA,A,1,n\nw,1,BA,B,1,n\n");
    EXPECT_THROW(pair_series(read_csv(mixed, "c", {})), std::invalid_argument);
}

}  // namespace
}  // namespace vsb::datasets
