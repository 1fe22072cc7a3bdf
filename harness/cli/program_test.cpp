// End to end: the built program as a child.
#include "harness/cli/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <tuple>

#include "datasets/store.h"
#include "harness/experiment_toml.h"
#include "harness/schedule.h"
#include "harness/scratch_folder.h"
#include "receivers/perf/counters.h"

namespace vsb::cli {
namespace {

using datasets::ExperimentStatus;
using datasets::OpenMode;
using datasets::Store;
using datasets::TrialStatus;
using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

class ProgramTest : public testing::Test {
  protected:
    std::string db() const { return folder_.file("runs.db").string(); }
    std::vector<std::string> with_db(std::vector<std::string> arguments) const {
        arguments.push_back("--db");
        arguments.push_back(db());
        return arguments;
    }
    Finished run(const std::vector<std::string>& arguments, const ProgramOptions& options = {}) {
        return run_program(with_db(arguments), options);
    }

    // Exit 2 and one line that starts like our errors, and nothing was recorded.
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

const std::vector<std::string> kFake{"run", "--target",   "fake",    "--a", "level=2,noise=0.01",
                                     "--b", "level=3",    "--pairs", "4",   "--seed",
                                     "7",   "--payloads", "64,4K"};

std::vector<std::string> plus(std::vector<std::string> base, const std::vector<std::string>& more) {
    base.insert(base.end(), more.begin(), more.end());
    return base;
}

// A small real run: many short trials.
std::vector<std::string> engine_run(int pairs) {
    return {"run",     "--payloads",          "64,1K",         "--workload", "fixed,matched",
            "--pairs", std::to_string(pairs), "--bytes-scale", "0.002",      "--seed",
            "11"};
}

TEST_F(ProgramTest, UsageErrorsAreOneLineAndExitTwo) {
    expect_refused({"run", "--pears", "4"}, "--pears");
    expect_refused({"run", "--pairs", "four"}, "--pairs: 'four' is not a whole number");
    expect_refused({"run", "--pairs", "0"}, "--pairs: '0'");
    expect_refused({"run", "--pairs=-1"}, "--pairs: '-1'");
    expect_refused({"run", "--seed", "1e999"}, "--seed: ");
    expect_refused({"run", "--bytes-scale", "nan"}, "--bytes-scale: ");
    expect_refused({"run", "--timeout", "1e999"}, "--timeout: ");
    expect_refused({"run", "--payloads", "64KB"}, "--payloads: ");
    expect_refused({"run", "--a", "policy=warp"}, "warp");
    expect_refused({"run", "--a", "lock-batch"}, "KEY=VALUE");
    expect_refused({"run", "no-such-preset"}, "presets: demo");
    expect_refused({"run", "demo", "--format", "pdf"}, "--format");
    expect_refused({"run", "demo", "extra"}, "extra");
    expect_refused({"run", "--pairs", "2", "--pairs", "4"}, "--pairs");
    expect_refused({"run", "--target", "moon"}, "--target: ");
    expect_refused({"run", "--resume", "1"}, "there is no store");
    expect_refused({"compare", "no.csv"}, "no.csv: cannot be read");
    expect_refused({"compare", "last", "--confidence", "95"}, "--confidence: ");
    expect_refused({"compare", "last", "--fail-on", "bad"}, "--fail-on: ");
    expect_refused({"run", "demo", "--until-halfwidth", "1%", "--pairs", "8"},
                   "until_halfwidth: its pilot alone takes 20 pairs, and pairs allows 8");
    expect_refused({"run", "--until-halfwidth", "-1%"}, "--until-halfwidth: ");
    expect_refused({"compare", "last", "--adjust", "sidak"}, "--adjust: ");
    expect_refused({"show"}, "EXPERIMENT");
    expect_refused({"list"}, "runs.db");
}

TEST_F(ProgramTest, NoCommandAndUnknownCommandsAreUsageErrors) {
    for (const auto& arguments : {std::vector<std::string>{}, {"runn"}, {"--frobnicate"}}) {
        const Finished f = run_program(arguments);
        EXPECT_EQ(f.exit_code, 2);
        EXPECT_EQ(std::ranges::count(f.err, '\n'), 1) << f.err;
    }
}

TEST_F(ProgramTest, BadTomlNamesFileLineAndKey) {
    const std::string file = folder_.write("x.toml", "pairs = 4\npayload = [64]\n").string();
    expect_refused({"run", file}, file + ":2: key 'payload': unknown");
    const std::string type = folder_.write("y.toml", "pairs = \"4\"\n").string();
    expect_refused({"run", type}, type + ":1: key 'pairs': must be a whole number");
    expect_refused({"run", folder_.path().string()}, "not a regular file");
}

TEST_F(ProgramTest, CpusOutsideTheAllowedMaskAreRefused) {
    expect_refused({"run", "demo", "--cpus", "receiver=0,worker=4000"},
                   "--cpus: worker=4000: CPU 4000 is not one this process may run on");
    const std::string file = folder_.write("x.toml", "cpus = { receiver = 4000 }\n").string();
    expect_refused({"run", file}, "receiver=4000");
    expect_refused({"run", "demo", "--cpus", "reader=0"}, "--cpus: 'reader' is no role");
    expect_refused({"run", "demo", "--cpus", "sender=0"}, "sender");
}

TEST_F(ProgramTest, StoresThatCannotBeUsedAreRefusedBeforeMeasuring) {
    const std::string folder = folder_.path().string();
    for (const std::string& file :
         {folder, folder + "/none/runs.db", folder_.write("notes.txt", "hello").string()}) {
        const Finished f = run_program(plus(kFake, {"--db", file}));
        EXPECT_EQ(f.exit_code, 2) << f.err;
        EXPECT_EQ(f.out, "");
        EXPECT_EQ(std::ranges::count(f.err, '\n'), 1) << f.err;
    }
    EXPECT_EQ(vsb::harness::file_text(folder_.file("notes.txt")), "hello");
}

TEST_F(ProgramTest, AStoreOfAnotherUserIsRefused) {
    if (geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
    ProgramOptions nobody;
    nobody.uid = 65534;
    const Finished version = run_program({"--version"}, nobody);
    if (version.exit_code == 127) GTEST_SKIP() << "another user may not run " << VSB_BIN_DIR;
    ASSERT_EQ(run(kFake).exit_code, 0);
    std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
    std::filesystem::permissions(db(), std::filesystem::perms(0644));
    const std::string before = vsb::harness::file_text(db());
    const Finished f = run(kFake, nobody);
    EXPECT_EQ(f.exit_code, 2) << f.err;
    EXPECT_EQ(std::ranges::count(f.err, '\n'), 1) << f.err;
    EXPECT_EQ(Store::open(db(), OpenMode::read_only).experiments().size(), 1U);
    EXPECT_EQ(vsb::harness::file_text(db()), before);
}

TEST_F(ProgramTest, HelpEndsWithTwoExamplesAndVersionIsPrinted) {
    for (const char* command : {"run", "compare", "report", "plan", "list", "show", "import",
                                "export", "history", "nightly"}) {
        const Finished f = run_program({command, "--help"});
        EXPECT_EQ(f.exit_code, 0);
        EXPECT_EQ(f.err, "");
        const std::size_t examples = f.out.find("Examples:\n");
        ASSERT_NE(examples, std::string::npos) << command;
        const std::string rest = f.out.substr(examples);
        std::size_t count = 0;
        for (std::size_t at = rest.find("  vsockbench "); at != std::string::npos;
             at = rest.find("  vsockbench ", at + 1)) {
            ++count;
        }
        EXPECT_EQ(count, 2U) << rest;
    }
    const Finished version = run_program({"--version"});
    EXPECT_EQ(version.exit_code, 0);
    EXPECT_THAT(version.out, StartsWith("vsockbench 0."));
    EXPECT_EQ(run_program({"--help"}).exit_code, 0);
}

TEST_F(ProgramTest, PlanGivesThePairsOfAHalfWidth) {
    const Finished f = run_program({"plan", "--sd", "2%", "--halfwidth", "1%", "--json"});
    ASSERT_EQ(f.exit_code, 0) << f.err;
    const json plan = json::parse(f.out);
    EXPECT_EQ(plan.at("schema"), "vsockbench.plan/1");
    EXPECT_EQ(plan.at("pairs"), 20);
    EXPECT_EQ(plan.at("pairs_assured"), 24);
    EXPECT_THAT(run_program({"plan", "--sd", "2%", "--halfwidth", "1%"}).out,
                HasSubstr("half-width 1%: 20 pairs; 24 keep it with 80% assurance"));
    const json more = json::parse(run_program({"plan", "--sd", "0.02", "--change=-1.5%", "--margin",
                                               "2%", "--pairs", "16", "--json"})
                                      .out);
    const json& row = more.at("rows").at(0);
    EXPECT_EQ(row.at("pairs_for_power"), 16);
    EXPECT_NEAR(row.at("power_at_pairs").get<double>(), 0.80244, 5e-5);
    EXPECT_GT(row.at("equivalence_pairs").get<int>(), 16);
    EXPECT_GT(row.at("equivalence_power_at_pairs").get<double>(), 0);
    EXPECT_NEAR(row.at("halfwidth_at_pairs").get<double>(), 0.01078, 5e-5);
    EXPECT_NEAR(row.at("minimum_change_at_pairs").get<double>(), 0.01518, 5e-6);
    EXPECT_TRUE(row.at("pairs").is_null());
}

TEST_F(ProgramTest, PlanRefusesWhatCannotBePlanned) {
    expect_refused({"plan", "--halfwidth", "1%"}, "--sd or --from");
    expect_refused({"plan", "--sd", "2%"}, "nothing is asked");
    expect_refused({"plan", "--sd", "0", "--halfwidth", "1%"}, "--sd: '0' is not above 0%");
    expect_refused({"plan", "--sd", "nan", "--halfwidth", "1%"}, "--sd: ");
    expect_refused({"plan", "--sd", "2%", "--halfwidth", "-1%"}, "--halfwidth: ");
    expect_refused({"plan", "--sd", "2%", "--pairs", "7"}, "--pairs: '7'");
    expect_refused({"plan", "--sd", "2%", "--halfwidth", "1%", "--power", "100%"}, "--power: ");
    expect_refused({"plan", "--sd", "900%", "--halfwidth", "1e-6"}, "more than");
    expect_refused({"plan", "--sd", "2%", "--margin", "1%", "--change", "1%"}, "never equivalent");
    expect_refused({"plan", "--from", "last", "--halfwidth", "1%"}, "runs.db");
}

TEST_F(ProgramTest, PlanTakesTheScatterOfARecordedRun) {
    ASSERT_EQ(run({"run", "--target", "fake", "--a", "noise=0.02", "--b", "noise=0.02,level=2",
                   "--pairs", "12", "--seed", "7", "--payloads", "64,4K"})
                  .exit_code,
              0);
    const Finished f = run({"plan", "--from", "last", "--halfwidth", "1%", "--json"});
    ASSERT_EQ(f.exit_code, 0) << f.err;
    const json plan = json::parse(f.out);
    ASSERT_EQ(plan.at("rows").size(), 6U);
    int most = 0;
    for (const json& row : plan.at("rows")) {
        EXPECT_EQ(row.at("sd_df"), 10);
        const double sd = row.at("sd").get<double>();
        EXPECT_GT(sd, 0.01);
        EXPECT_LT(sd, 0.07);
        EXPECT_GT(row.at("pairs_assured").get<int>(), row.at("pairs").get<int>());
        most = std::max(most, row.at("pairs").get<int>());
    }
    EXPECT_EQ(plan.at("pairs"), most);
    const Finished text = run({"plan", "--from", "last", "--halfwidth", "1%", "--pairs", "32"});
    EXPECT_EQ(text.exit_code, 0);
    EXPECT_THAT(text.out, HasSubstr("fixed/64B"));
}

// Quiet and noisy workloads of one run get pairs of their own; the record says how many and why.
TEST_F(ProgramTest, UntilHalfwidthPlansFromThePilotAndSaysSo) {
    const Finished f =
        run({"run", "--target", "fake", "--a", "noise=0.02", "--b", "noise=0.02,level=2",
             "--until-halfwidth", "1%", "--pairs", "80", "--seed", "7", "--payloads", "64",
             "--workload", "fixed,rtt", "--json"});
    ASSERT_EQ(f.exit_code, 0) << f.err;
    EXPECT_THAT(f.err, HasSubstr("planned: fixed/64B "));
    const json document = json::parse(f.out);
    const json& environment = document.at("record").at("environment");
    EXPECT_THAT(environment.at("plan.rule").get<std::string>(), HasSubstr("at most 80"));
    for (const json& row : document.at("rows")) {
        if (!row.at("headline").get<bool>()) continue;
        const int n = row.at("n_ab").get<int>() + row.at("n_ba").get<int>();
        EXPECT_EQ(row.at("n_ab"), row.at("n_ba"));
        EXPECT_EQ(environment.at("plan.pairs." + row.at("workload").get<std::string>()),
                  std::to_string(n));
        EXPECT_GT(n, 20);
        EXPECT_LE(n, 80);
    }
    const Finished letter = run({"report", "last"});
    EXPECT_THAT(letter.out, HasSubstr("a pilot of 20 pairs"));
}

// A CSV of pairs that alternate between the orders.
std::string csv_of(const std::vector<std::pair<std::string, std::string>>& pairs,
                   bool one_order = false) {
    std::string text = "workload,pair,order,state,value\n";
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const std::string start =
            "w," + std::to_string(i + 1) + (one_order || i % 2 == 0 ? ",AB," : ",BA,");
        text += start + "A," + pairs[i].first + "\n" + start + "B," + pairs[i].second + "\n";
    }
    return text;
}

// Whatever is poor about the input is said: by a warning in the result or by an error, never by a
// NaN (which JSON would not even hold) or a bare null.
TEST_F(ProgramTest, PoorPairsGiveAWarningOrAnError) {
    struct Poor {
        const char* name;
        std::string csv;
        const char* says;  // a warning's code, or part of the error
        int exit_code;
    };
    const auto repeated = [](std::size_t n, const char* a, const char* b) {
        return std::vector<std::pair<std::string, std::string>>(n, {a, b});
    };
    for (const Poor& poor :
         {Poor{"one pair", csv_of({{"1", "2"}}), "too-few-pairs", 0},
          Poor{"two", csv_of({{"1", "2"}, {"1.1", "2"}}), "too-few-of-an-order", 0},
          Poor{"three", csv_of({{"1", "2"}, {"1.1", "2"}, {"1", "2.1"}}), "too-few-of-an-order", 0},
          Poor{"all equal", csv_of(repeated(8, "1", "1")), "zero-variance", 0},
          Poor{"one change", csv_of(repeated(8, "1e-300", "2e-300")), "zero-variance", 0},
          Poor{"identical", csv_of({{"1", "2"}, {"1", "2"}, {"3", "5"}, {"3", "5"}}),
               "repeated-values", 0},
          Poor{"one order", csv_of({{"1", "2"}, {"1.1", "2"}, {"1", "2.1"}, {"1.2", "2"}}, true),
               "too-few-of-an-order", 0},
          Poor{"wild", csv_of({{"1", "1e260"}, {"1", "2e260"}, {"1e260", "1"}, {"2e260", "1"}}),
               "unbounded-interval", 0},
          Poor{"ties",
               csv_of({{"1", "1"},
                       {"1", "1.1"},
                       {"1.1", "1"},
                       {"1.1", "1.1"},
                       {"1", "1.1"},
                       {"1.1", "1"},
                       {"1", "1"},
                       {"1.1", "1.1"}}),
               "repeated-values", 0},
          Poor{"beyond", csv_of(repeated(4, "1e-300", "1e300")), "w: comparison: pair 1", 2},
          Poor{"zero", csv_of(repeated(4, "0", "1")), "column value", 2}}) {
        SCOPED_TRACE(poor.name);
        const std::string file = folder_.write("poor.csv", poor.csv).string();
        for (const char* adjust : {"none", "maxt"}) {
            const Finished f = run_program({"compare", file, "--adjust", adjust, "--simultaneous",
                                            "--margin", "2%", "--json"});
            EXPECT_EQ(f.exit_code, poor.exit_code) << f.err;
            if (poor.exit_code != 0) {
                EXPECT_THAT(f.err, HasSubstr(poor.says));
                EXPECT_EQ(f.out, "");
                continue;
            }
            EXPECT_THAT(f.out, HasSubstr("\"code\": \"" + std::string(poor.says) + "\""));
            const json document = json::parse(f.out);
            for (const json& row : document.at("rows")) {
                EXPECT_FALSE(row.at("change").is_null());
                EXPECT_FALSE(row.at("ci").at("low").is_null());
                // A p that is missing has its reason beside it.
                if (row.at("p").is_null()) {
                    EXPECT_THAT(row.dump(), HasSubstr("zero-variance"));
                }
            }
            EXPECT_THAT(run_program({"compare", file, "--adjust", adjust}).out,
                        testing::Not(HasSubstr("nan")));
        }
    }
}

TEST_F(ProgramTest, CompareAdjustsAndGivesSimultaneousIntervals) {
    ASSERT_EQ(run(kFake).exit_code, 0);
    const Finished f = run({"compare", "last", "--adjust", "holm", "--simultaneous", "--json"});
    ASSERT_EQ(f.exit_code, 0) << f.err;
    const json document = json::parse(f.out);
    EXPECT_EQ(document.at("adjust"), "holm");
    EXPECT_EQ(document.at("table_sign").at("n"), 6);
    EXPECT_FALSE(document.at("rows").at(0).at("p_adjusted").is_null());
    const std::string text = run({"compare", "last", "--adjust", "holm"}).out;
    EXPECT_THAT(text, HasSubstr("p (holm)"));
    EXPECT_THAT(text, HasSubstr("B is better in"));
    EXPECT_THAT(run({"report", "last", "--adjust", "maxt", "--simultaneous"}).out,
                HasSubstr("p (maxt): "));
}

TEST_F(ProgramTest, RunJsonIsTheComparisonOfWhatWasRecorded) {
    const Finished f = run(plus(kFake, {"--json"}));
    ASSERT_EQ(f.exit_code, 0) << f.err;
    const json document = json::parse(f.out);
    EXPECT_EQ(document.at("schema"), "vsockbench.comparison/1");
    ASSERT_GE(document.at("rows").size(), 6U);
    const json& row = document.at("rows")[0];
    EXPECT_EQ(row.at("workload"), "fixed/64B");
    EXPECT_EQ(row.at("metric"), "throughput");
    EXPECT_EQ(row.at("n_ab"), 2);
    EXPECT_EQ(row.at("n_ba"), 2);
    EXPECT_NEAR(row.at("change").get<double>(), 0.5, 0.05);
    // Compared again from the store it is the same, row by row.
    const Finished again = run({"compare", "last", "--json"});
    EXPECT_EQ(json::parse(again.out).at("rows"), document.at("rows"));
}

TEST_F(ProgramTest, OddPairsAreRoundedUpAndSaid) {
    const Finished f = run({"run", "--target", "fake", "--pairs", "3", "--workload", "fixed",
                            "--payloads", "64", "--json"});
    ASSERT_EQ(f.exit_code, 0) << f.err;
    EXPECT_THAT(f.err, HasSubstr("pairs: 3 rounded up to 4"));
    EXPECT_EQ(Store::open(db(), OpenMode::read_only).find("last").pairs, 4);
}

TEST_F(ProgramTest, ProgressIsOnePlainLineAPairAndQuietIsNone) {
    const Finished f = run(kFake);
    std::size_t lines = 0;
    for (std::size_t at = f.err.find("\npair "); at != std::string::npos;
         at = f.err.find("\npair ", at + 1)) {
        ++lines;
    }
    EXPECT_EQ(lines, 24U) << f.err;
    EXPECT_THAT(f.err, HasSubstr("\npair 24/24 "));
    EXPECT_THAT(f.err, HasSubstr("so far +"));
    EXPECT_EQ(f.err.find('\x1b'), std::string::npos);
    EXPECT_EQ(f.err.find(" p "), std::string::npos) << "a p-value before the end";
    EXPECT_EQ(run(plus(kFake, {"--quiet"})).err, "");
}

TEST_F(ProgramTest, AFailedTrialIsRecordedAndExitsThree) {
    const Finished f = run({"run", "--target", "fake", "--b", "mismatch-pair=2", "--pairs", "4",
                            "--workload", "fixed", "--payloads", "64", "--json"});
    EXPECT_EQ(f.exit_code, 3);
    EXPECT_THAT(f.err, HasSubstr("1 of 4 pairs were lost"));
    EXPECT_THAT(f.err, HasSubstr("bytes differ: planned"));
    const json document = json::parse(f.out);
    EXPECT_EQ(
        document.at("rows")[0].at("n_ab").get<int>() + document.at("rows")[0].at("n_ba").get<int>(),
        3);
    const auto record = Store::open(db(), OpenMode::read_only).find("last");
    EXPECT_EQ(record.status, ExperimentStatus::failed);

    const Finished resumed = run({"run", "--resume", "last", "--json"});
    EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
    EXPECT_EQ(json::parse(resumed.out).at("rows")[0].at("n_ab"), 2);
    EXPECT_EQ(run({"run", "--resume", "last", "--pairs", "8"}).exit_code, 2);
    EXPECT_EQ(run({"run", "demo", "--resume", "last"}).exit_code, 2);
    EXPECT_EQ(run({"run", "--resume", "99"}).exit_code, 2);
}

TEST_F(ProgramTest, CyclesAskedForByNameNeedCounters) {
    const Finished f = run({"run", "--workload", "cycles", "--payloads", "64", "--pairs", "2",
                            "--bytes-scale", "0.001"});
    if (perf::unavailable_reason()) {
        EXPECT_EQ(f.exit_code, 4);
        EXPECT_THAT(f.err, StartsWith("vsockbench: cycles: "));
        EXPECT_FALSE(std::filesystem::exists(db()));
    } else {
        EXPECT_EQ(f.exit_code, 0) << f.err;
    }
}

TEST_F(ProgramTest, APresetSkipsCyclesWithAWarningWhereThereAreNoCounters) {
    if (!perf::unavailable_reason()) GTEST_SKIP() << "this machine has counters";
    const Finished f = run({"run", "vsock-rx-v5", "--pairs", "2", "--payloads", "64",
                            "--bytes-scale", "0.001", "--json"});
    ASSERT_EQ(f.exit_code, 0) << f.err;
    EXPECT_THAT(f.err, HasSubstr("[cycles-skipped]"));
    const auto record = Store::open(db(), OpenMode::read_only).find("last");
    EXPECT_TRUE(record.environment.contains("warning.cycles-skipped"));
    EXPECT_EQ(record.workloads.size(), 3U);
    EXPECT_THAT(f.out, HasSubstr("cycles-skipped"));
}

TEST_F(ProgramTest, AClosedOrFullStdoutLosesNothing) {
    ProgramOptions closed;
    closed.closed_stdout = true;
    const Finished f = run(kFake, closed);
    EXPECT_EQ(f.exit_code, 0) << f.err;
    ProgramOptions full;
    full.full_stdout = true;
    const Finished g = run(kFake, full);
    EXPECT_EQ(g.exit_code, 3);
    EXPECT_THAT(g.err, HasSubstr("stdout: No space left on device"));
    const Store store = Store::open(db(), OpenMode::read_only);
    ASSERT_EQ(store.experiments().size(), 2U);
    for (const auto& record : store.experiments()) {
        EXPECT_EQ(record.status, ExperimentStatus::finished);
        EXPECT_EQ(store.trials(record.id).size(), 48U);
    }
}

TEST_F(ProgramTest, EnvironmentAndMachineStateAreRecorded) {
    ASSERT_EQ(run(plus(engine_run(2), {"--quiet"})).exit_code, 0);
    const auto record = Store::open(db(), OpenMode::read_only).find("last");
    for (const char* key : {"kernel",
                            "cpu_model",
                            "cpus_online",
                            "cpus_allowed",
                            "governor",
                            "turbo",
                            "smt",
                            "mitigations",
                            "isolated_cpus",
                            "clock_source",
                            "virtualization",
                            "load_start",
                            "load_end",
                            "compiler",
                            "build_type",
                            "topology",
                            "cpu.receiver",
                            "cpu.worker",
                            "cpu.device",
                            "machine.wake_cost_ns",
                            "machine.wake_latency_ns",
                            "machine.syscall_cost_ns",
                            "machine.cache_line_round_trip_ns",
                            "machine.load_of_others",
                            "machine.wake_cost_ns.end"}) {
        EXPECT_TRUE(record.environment.contains(key)) << key;
    }
    EXPECT_THAT(record.config, HasSubstr("cpus = \"receiver="));
}

TEST_F(ProgramTest, ListAndShowAreTextAndJson) {
    ASSERT_EQ(run(kFake).exit_code, 0);
    const Finished list = run({"list"});
    EXPECT_EQ(list.exit_code, 0);
    EXPECT_THAT(list.out, HasSubstr("finished"));
    const json listed = json::parse(run({"list", "--json"}).out);
    EXPECT_EQ(listed.at("experiments")[0].at("id"), 1);
    const Finished show = run({"show", "last"});
    EXPECT_THAT(show.out, HasSubstr("48 ok, 0 failed"));
    const json shown = json::parse(run({"show", "1", "--json"}).out);
    EXPECT_EQ(shown.at("trials").size(), 48U);
    EXPECT_EQ(shown.at("trials")[0].at("measurements")[0].at("unit").get<std::string>().empty(),
              false);
    EXPECT_EQ(shown.at("seed"), 7);
    EXPECT_EQ(run({"show", "2"}).exit_code, 2);
}

TEST_F(ProgramTest, HostileNamesDoNotReachTheTerminal) {
    ASSERT_EQ(run(plus(kFake, {"--name", "x\x1b[2J\xe2\x80\xaey", "--quiet"})).exit_code, 0);
    for (const auto& arguments :
         {std::vector<std::string>{"list"}, {"show", "last"}, {"report", "last"}}) {
        const Finished f = run(arguments);
        EXPECT_EQ(f.exit_code, 0) << f.err;
        EXPECT_EQ(f.out.find('\x1b'), std::string::npos) << arguments[0];
        EXPECT_EQ(f.out.find("\xe2\x80\xae"), std::string::npos) << arguments[0];
    }
    EXPECT_EQ(run({"run", "x\x1b[2J"}).err.find('\x1b'), std::string::npos);
}

constexpr const char* kCsv =
    "workload,pair,order,state,value,metric,unit\n"
    "w,1,AB,A,1.00,throughput,Gbit/s\nw,1,AB,B,1.10,throughput,Gbit/s\n"
    "w,2,BA,B,1.11,throughput,Gbit/s\nw,2,BA,A,1.01,throughput,Gbit/s\n"
    "w,3,AB,A,0.99,throughput,Gbit/s\nw,3,AB,B,1.09,throughput,Gbit/s\n"
    "w,4,BA,B,1.12,throughput,Gbit/s\nw,4,BA,A,1.00,throughput,Gbit/s\n";

TEST_F(ProgramTest, CompareReadsCsvFromFilesAndStdin) {
    const std::string file = folder_.write("pairs.csv", kCsv).string();
    const Finished f = run({"compare", file, "--json"});
    ASSERT_EQ(f.exit_code, 0) << f.err;
    const json row = json::parse(f.out).at("rows").at(0);
    // theta = mean of the order means of ln(B/A): checked against the definition here.
    const double ab = (std::log(1.10 / 1.00) + std::log(1.09 / 0.99)) / 2;
    const double ba = (std::log(1.11 / 1.01) + std::log(1.12 / 1.00)) / 2;
    EXPECT_NEAR(row.at("change").get<double>(), std::exp((ab + ba) / 2) - 1, 1e-12);
    EXPECT_EQ(row.at("method"), "crossover-t");
    EXPECT_EQ(row.at("verdict"), "faster");
    ProgramOptions in;
    in.in = kCsv;
    EXPECT_EQ(json::parse(run_program({"compare", "-", "--json"}, in).out).at("rows").at(0), row);
}

TEST_F(ProgramTest, CompareGatesOnVerdicts) {
    const std::string file = folder_.write("pairs.csv", kCsv).string();
    EXPECT_EQ(run({"compare", file, "--fail-on", "slower,inconclusive"}).exit_code, 0);
    const Finished failed = run({"compare", file, "--fail-on", "faster"});
    EXPECT_EQ(failed.exit_code, 1);
    EXPECT_EQ(failed.err, "vsockbench: gate: w is faster\n");
    EXPECT_NE(failed.out, "") << "the table is printed all the same";
    EXPECT_EQ(run({"compare", file, "--lower-is-better", "--fail-on", "slower"}).exit_code, 0)
        << "a unit that says itself is not turned over";
    // One whole pair has no verdict: not a passed gate.
    const std::string one =
        folder_.write("one.csv", "workload,pair,order,state,value\nw,1,AB,A,1\nw,1,AB,B,1\n")
            .string();
    EXPECT_EQ(run({"compare", one, "--fail-on", "slower"}).exit_code, 1);
}

TEST_F(ProgramTest, CompareNamesLineAndColumnOfABadRow) {
    const std::string file =
        folder_.write("bad.csv", "workload,pair,order,state,value\nw,1,AB,A,1\nw,1,AB,B,-1\n")
            .string();
    const Finished f = run({"compare", file});
    EXPECT_EQ(f.exit_code, 2);
    EXPECT_THAT(f.err, HasSubstr("bad.csv:3: column value"));
    EXPECT_EQ(std::ranges::count(f.err, '\n'), 1);
    EXPECT_EQ(run({"compare", "last", "--skip-invalid"}).exit_code, 2);
}

TEST_F(ProgramTest, ReportsGoToAFile) {
    ASSERT_EQ(run(kFake).exit_code, 0);
    const std::string out = folder_.file("report.txt").string();
    const Finished f = run({"report", "last", "--format", "cover-letter", "-o", out});
    EXPECT_EQ(f.exit_code, 0) << f.err;
    EXPECT_EQ(f.out, "");
    EXPECT_THAT(vsb::harness::file_text(out), HasSubstr("throughput change (95% CI)"));
    EXPECT_EQ(run({"report", "last", "-o", folder_.path().string()}).exit_code, 2);
    for (const char* format : {"markdown", "csv", "json", "html", "ktap", "junit", "text"}) {
        EXPECT_NE(run({"report", "1", "--format", format}).out, "") << format;
    }
}

// What must hold of a store after a run was cut off and resumed to its end.
void expect_schedule_complete(const std::string& db) {
    const Store store = Store::open(db, OpenMode::read_only);
    ASSERT_EQ(store.experiments().size(), 1U);
    const auto record = store.find("last");
    EXPECT_EQ(record.status, ExperimentStatus::finished);
    const auto experiment = vsb::harness::parse_experiment_toml(record.config, "stored");
    std::map<std::tuple<datasets::Id, std::int64_t, datasets::Id>, int> ok;
    std::map<std::pair<datasets::Id, std::int64_t>, std::set<std::int64_t>> attempts;
    std::map<std::pair<datasets::Id, std::int64_t>, datasets::PairOrder> orders;
    for (const auto& trial : store.trials(record.id)) {
        if (trial.status != TrialStatus::ok) continue;
        ++ok[{trial.workload_id, trial.pair, trial.state_id}];
        attempts[{trial.workload_id, trial.pair}].insert(trial.attempt);
        orders[{trial.workload_id, trial.pair}] = trial.pair_order;
    }
    const auto schedule =
        vsb::harness::make_schedule(record.workloads.size(), experiment.pairs, experiment.seed);
    EXPECT_EQ(ok.size(), schedule.size() * 2) << "places were lost";
    for (const auto& [place, times] : ok)
        EXPECT_EQ(times, 1);
    for (const auto& [pair, tries] : attempts)
        EXPECT_EQ(tries.size(), 1U) << "a mixed pair";
    for (const auto& planned : schedule) {
        EXPECT_EQ(orders.at({record.workloads[planned.workload].id, planned.pair}), planned.order);
    }
}

std::size_t ok_trials(const std::string& db) {
    const Store store = Store::open(db, OpenMode::read_only);
    if (store.experiments().empty()) return 0;
    std::size_t ok = 0;
    for (const auto& trial : store.trials(store.find("last").id)) {
        ok += trial.status == TrialStatus::ok ? 1U : 0U;
    }
    return ok;
}

// Kills runs (and their resumptions) at random moments until one reaches its end.
void kill_and_resume(const std::string& db, std::mt19937& random) {
    const auto draw = [&](int low, int high) {
        return std::uniform_int_distribution<int>(low, high)(random);
    };
    std::vector<std::string> arguments = plus(engine_run(4), {"--db", db});
    std::size_t acknowledged = 0;
    for (int kills = 0; kills < 3; ++kills) {
        RunningProgram program(arguments);
        const int pairs = draw(1, 4);
        if (!program.wait_for_lines("pair ", pairs)) break;
        program.read_for_ms(draw(0, 12));
        program.signal(SIGKILL);
        const Finished f = program.wait();
        if (f.exit_code != 128 + SIGKILL) break;
        acknowledged += 2 * static_cast<std::size_t>(pairs);
        EXPECT_GE(ok_trials(db), acknowledged) << "a pair that was told is not there";
        acknowledged = ok_trials(db) / 2 * 2 >= acknowledged ? acknowledged : 0;
        arguments = {"run", "--resume", "last", "--db", db};
    }
    const Finished f = run_program({"run", "--resume", "last", "--db", db, "--json"});
    EXPECT_EQ(f.exit_code, 0) << f.err;
    expect_schedule_complete(db);
}

TEST_F(ProgramTest, KilledAtARandomMomentARunResumesToItsWholeSchedule) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    kill_and_resume(db(), random);
}

TEST(ProgramKillSlow, KilledManyTimes) {
    for (unsigned seed = 1; seed <= 25; ++seed) {
        SCOPED_TRACE(seed);
        const vsb::harness::ScratchFolder folder;
        std::mt19937 random(seed);
        kill_and_resume(folder.file("runs.db").string(), random);
        if (testing::Test::HasFailure()) return;
    }
}

TEST_F(ProgramTest, InterruptedItKeepsWhatWasRecordedAndSaysHowToResume) {
    for (const int number : {SIGINT, SIGTERM}) {
        std::filesystem::remove(db());
        RunningProgram program(plus(engine_run(20), {"--db", db()}));
        ASSERT_TRUE(program.wait_for_lines("pair ", 5));
        program.signal(number);
        const Finished f = program.wait();
        EXPECT_EQ(f.exit_code, 130) << f.err;
        EXPECT_THAT(f.err, HasSubstr("vsockbench run --resume 1 --db " + db()));
        EXPECT_THAT(f.out, HasSubstr("INTERIM")) << "not labelled as interim";
        {
            const Store store = Store::open(db(), OpenMode::read_only);
            EXPECT_EQ(store.find("last").status, ExperimentStatus::interrupted);
        }
        EXPECT_GE(ok_trials(db()), 10U);
        const Finished resumed = run({"run", "--resume", "1", "--json"});
        EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
        expect_schedule_complete(db());
    }
}

TEST_F(ProgramTest, ARunThatIsUnderWayCannotBeResumed) {
    RunningProgram program(plus(engine_run(20), {"--db", db()}));
    ASSERT_TRUE(program.wait_for_lines("pair ", 1));
    const Finished f = run({"run", "--resume", "last"});
    EXPECT_EQ(f.exit_code, 2);
    EXPECT_THAT(f.err, HasSubstr("is being run by another process"));
    const json interim = json::parse(run({"compare", "last", "--json"}).out);
    for (const auto& row : interim.at("rows"))
        EXPECT_TRUE(row.at("p").is_null());
    program.signal(SIGINT);
    EXPECT_EQ(program.wait().exit_code, 130);
}

}  // namespace
}  // namespace vsb::cli
