// The history and the nightly job, end to end: simulated nights in a real store, and real runs of
// the fake target.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "datasets/store.h"
#include "datasets/utc.h"
#include "harness/cli/failure.h"
#include "harness/cli/history_options.h"
#include "harness/cli/program.h"
#include "harness/cli/report_folder.h"
#include "harness/scratch_folder.h"

namespace vsb::cli {
namespace {

using datasets::ExperimentStatus;
using datasets::OpenMode;
using datasets::Store;
using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

class Nightly : public testing::Test {
  protected:
    std::string db() const { return folder_.file("runs.db").string(); }
    std::string out() const { return folder_.file("out").string(); }

    Finished history(std::vector<std::string> more) {
        std::vector<std::string> arguments{"history", "nightly", "--db", db()};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_program(arguments);
    }

    Finished nightly(const std::string& file, std::vector<std::string> more = {}) {
        std::vector<std::string> arguments{"nightly", file, "--db", db(), "--out", out()};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_program(arguments);
    }

    // An experiment of the fake target, the same figures in every night.
    std::string experiment(const std::string& b, const std::string& more = "") {
        return folder_
            .write("nightly.toml",
                   "target = \"fake\"\na = \"level=2,noise=0.01\"\nb = \"" + b +
                       "\"\npairs = 8\npayloads = [64]\nworkload = [\"fixed\"]\nseed = 3\n" + more)
            .string();
    }

    vsb::harness::ScratchFolder folder_;
};

// A simulated season: two workloads of 16 pairs a night, whose log ratios scatter by 2% a pair.
class Season {
  public:
    explicit Season(const std::string& db, std::uint64_t seed)
        : store_(Store::open(db, OpenMode::read_write)), random_(seed) {}

    // The night of this number from 2026-09-01 on, fixed/64B at this level of ln(B/A).
    void add_night(int number, double level) {
        constexpr int kPairs = 16;
        const auto begin = std::chrono::sys_days{std::chrono::year{2026} / 9 / 1} +
                           std::chrono::days{number} + std::chrono::hours{2};
        datasets::NewExperiment experiment;
        experiment.name = "nightly";
        experiment.target = "engine";
        experiment.pairs = kPairs;
        experiment.project_commit = "c" + std::to_string(number);
        experiment.states = {{0, "A", "baseline"}, {0, "B", "tip"}};
        experiment.workloads = {{0, "fixed/64B", "fixed", 64, 65536, 1000},
                                {0, "rtt/64B", "rtt", 64, 0, 100}};
        std::vector<datasets::TrialRecord> trials;
        for (int workload = 1; workload <= 2; ++workload) {
            for (int pair = 1; pair <= kPairs; ++pair) {
                const bool ab = pair % 2 == 1;
                for (int state = 1; state <= 2; ++state) {
                    const double shift = state == 2 ? (workload == 1 ? level : 0.1) : 0;
                    datasets::TrialRecord trial;
                    trial.workload_id = workload;
                    trial.state_id = state;
                    trial.pair = pair;
                    trial.pair_order = ab ? datasets::PairOrder::ab : datasets::PairOrder::ba;
                    trial.position = ab == (state == 1) ? 1 : 2;
                    trial.started = datasets::utc(begin + std::chrono::seconds{pair});
                    const double value = std::exp(shift + noise_(random_));
                    if (workload == 1) {
                        trial.measurements = {{"throughput", "Gbit/s", value}};
                    } else {
                        trial.measurements = {{"rtt_mean", "us", 100 * value}};
                    }
                    trials.push_back(trial);
                }
            }
        }
        store_.import(experiment, trials, ExperimentStatus::finished,
                      "season night " + std::to_string(number));
    }

    reports::History history() const { return recorded_history(store_, "nightly", {}); }

  private:
    Store store_;
    boost::random::mt19937_64 random_;
    boost::random::normal_distribution<double> noise_{0, 0.02 / std::sqrt(2.0)};
};

TEST_F(Nightly, SixtyCleanNightsAreQuietEveryNight) {
    Season season(db(), 20);
    for (int night = 0; night < 60; ++night) {
        season.add_night(night, 0.6);
        ASSERT_TRUE(season.history().alarms.empty()) << "night " << night;
    }
    const Finished f = history({"--fail-on", "step,drop"});
    EXPECT_EQ(f.exit_code, 0) << f.err;
    EXPECT_THAT(
        f.out, StartsWith("nightly: quiet; 2 workloads, 60 nights; a step of 1% is found within "));
    EXPECT_EQ(f.err, "");
}

TEST_F(Nightly, AStepOfTwoPercentIsFoundWhenPlannedAndAtItsDate) {
    constexpr int kStep = 40;  // 2026-10-11
    Season season(db(), 21);
    for (int night = 0; night < kStep; ++night)
        season.add_night(night, 0.6);
    const auto before = season.history();
    ASSERT_TRUE(before.alarms.empty());
    const auto planned = stats::nights_to_find(std::log(0.98), before.workloads[0].gate.night_sd,
                                               kStep, 0.002 / 4, 0.8, 5, 60);
    ASSERT_TRUE(planned);
    EXPECT_LE(*planned, 7U);
    std::size_t took = 0;
    for (int night = kStep; night < 60 && took == 0; ++night) {
        season.add_night(night, 0.6 + std::log(0.98));
        if (!season.history().alarms.empty()) took = static_cast<std::size_t>(night - kStep + 1);
    }
    EXPECT_GE(took, 1U);
    EXPECT_LE(took, *planned);
    const Finished f = history({"--json", "--fail-on", "step"});
    EXPECT_EQ(f.exit_code, 1);
    EXPECT_THAT(f.err, StartsWith("vsockbench: gate: fixed/64B throughput: step of -"));
    EXPECT_THAT(f.err, HasSubstr("since the night of 2026-10-11 (experiment 41)"));
    EXPECT_THAT(f.err, HasSubstr("commits c39..c40"));
    const json document = json::parse(f.out);
    EXPECT_EQ(document["schema"], "vsockbench.history/1");
    EXPECT_EQ(document["gate"]["alarms"].size(), 1U);
    EXPECT_EQ(document["gate"]["alarms"][0]["date"], "2026-10-11");
    EXPECT_NEAR(document["gate"]["alarms"][0]["change"].get<double>(), -0.02, 0.01);
    EXPECT_EQ(document["workloads"].size(), 2U);
    // Without a gate it is a report; accepted, it is no alarm.
    EXPECT_EQ(history({}).exit_code, 0);
    EXPECT_EQ(history({"--fail-on", "step", "--accepted", "2026-10-11"}).exit_code, 0);
    const Finished page = history({"--format", "html"});
    EXPECT_EQ(page.exit_code, 0);
    EXPECT_THAT(page.out, HasSubstr("1 of 2 workloads is worse"));
    const Finished csv = history({"--format", "csv", "--last", "3"});
    EXPECT_EQ(std::ranges::count(csv.out, '\n'), 7);
}

TEST_F(Nightly, HistoryRefusesWhatItCannotRead) {
    { Season(db(), 1).add_night(0, 0); }
    const auto refused = [&](const std::vector<std::string>& more, const std::string& says) {
        const Finished f = history(more);
        EXPECT_EQ(f.exit_code, 2) << f.err;
        EXPECT_THAT(f.err, HasSubstr(says));
        EXPECT_EQ(std::ranges::count(f.err, '\n'), 1) << f.err;
    };
    refused({"--since", "yesterday"}, "--since: 'yesterday' is no date");
    refused({"--last", "0"}, "--last: ");
    refused({"--margin", "0"}, "--margin: ");
    refused({"--margin", "200%"}, "--margin: ");
    refused({"--level", "0.7"}, "--level: ");
    refused({"--look-back", "3"}, "could never fail");
    refused({"--window", "5"}, "--window: ");
    refused({"--fail-on", "slower"}, "choose from step, drop");
    refused({"--level", "1e-9"}, "level");
    const Finished unknown = run_program({"history", "nightlly", "--db", db()});
    EXPECT_EQ(unknown.exit_code, 2);
    EXPECT_THAT(unknown.err, HasSubstr("no experiment named 'nightlly' (newest first: nightly)"));
    // A gate over nothing has not passed.
    EXPECT_EQ(history({"--since", "2030-01-01", "--fail-on", "step"}).exit_code, 1);
}

TEST_F(Nightly, RunsComparesReportsAndGates) {
    const std::string file = experiment("level=3,noise=0.01");
    for (int night = 0; night < 5; ++night) {
        const Finished f = nightly(file);
        ASSERT_EQ(f.exit_code, 0) << f.err << f.out;
        EXPECT_EQ(std::ranges::count(f.out, '\n'), 1) << f.out;
        EXPECT_THAT(f.out, HasSubstr("quiet"));
        EXPECT_EQ(f.err, "");
    }
    const auto latest = std::filesystem::read_symlink(out() + "/latest").string();
    EXPECT_TRUE(latest.ends_with("-5")) << latest;
    for (const char* name :
         {"summary.txt", "report.txt", "report.html", "comparison.json", "results.ktap",
          "junit.xml", "history.txt", "history.html", "history.json", "history.csv"}) {
        EXPECT_FALSE(vsb::harness::file_text(out() + "/latest/" + name).empty()) << name;
    }
    EXPECT_EQ(json::parse(vsb::harness::file_text(out() + "/latest/history.json"))["nights"].size(),
              5U);
    // B loses a fifth: tonight is a drop.
    const Finished bad = nightly(experiment("level=2.4,noise=0.01"));
    EXPECT_EQ(bad.exit_code, 1) << bad.out;
    EXPECT_THAT(bad.out, HasSubstr("1 of 1 workload is worse\n  fixed/64B throughput: tonight -"));
    EXPECT_EQ(vsb::harness::file_text(out() + "/latest/summary.txt"), bad.out);
    // The same by a verdict of its own comparison, and not when only steps fail.
    EXPECT_EQ(nightly(experiment("level=1.5,noise=0.01"), {"--fail-on", "slower"}).exit_code, 1);
    EXPECT_EQ(nightly(experiment("level=2.4,noise=0.01"), {"--fail-on", "step"}).exit_code, 0);
}

TEST_F(Nightly, LostPairsAreNotMeasured) {
    const Finished f = nightly(experiment("level=3,noise=0.01,fail-pair=2"));
    EXPECT_EQ(f.exit_code, 3) << f.out;
    EXPECT_THAT(
        f.out,
        HasSubstr(
            "measured in part: 1 of 8 pairs were lost, the first: fixed/64B, pair 2: as scripted"));
    EXPECT_TRUE(std::filesystem::exists(out() + "/latest/summary.txt"));
}

TEST_F(Nightly, FoldersThatCannotBeUsedAreRefusedBeforeMeasuring) {
    const std::string file = experiment("level=3");
    const std::string plain = folder_.write("plain", "text").string();
    const Finished f = run_program({"nightly", file, "--db", db(), "--out", plain + "/out"});
    EXPECT_EQ(f.exit_code, 2) << f.err;
    EXPECT_THAT(f.err, HasSubstr("--out: "));
    EXPECT_EQ(std::ranges::count(f.err, '\n'), 1) << f.err;
    EXPECT_EQ(nightly("none.toml").exit_code, 2);
    EXPECT_EQ(nightly(file, {"--fail-on", "sloer"}).exit_code, 2);
    EXPECT_FALSE(std::filesystem::exists(db())) << "something was measured";
    // Another one holds the folder.
    const int held = open((out() + "/.nightly.lock").c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(held, 0);
    ASSERT_EQ(flock(held, LOCK_EX | LOCK_NB), 0);
    const Finished second = nightly(file);
    close(held);
    EXPECT_EQ(second.exit_code, 3) << second.err;
    EXPECT_THAT(second.err, HasSubstr("another one is under way"));
    EXPECT_FALSE(std::filesystem::exists(db()));
}

TEST_F(Nightly, ANightThatWasKilledGoesOnTheSameDay) {
    const std::string file =
        folder_
            .write("nightly.toml",
                   "payloads = [64]\nworkload = [\"fixed\"]\npairs = 24\nbytes_scale = 0.002\n")
            .string();
    RunningProgram killed({"run", file, "--db", db()});
    ASSERT_TRUE(killed.wait_for_lines("pair ", 2));
    killed.signal(SIGKILL);
    killed.wait();
    const Finished f = nightly(file);
    EXPECT_THAT(f.err, HasSubstr("going on with experiment 1")) << f.out;
    EXPECT_THAT(f.out, HasSubstr("(experiment 1)"));
    EXPECT_EQ(Store::open(db(), OpenMode::read_only).experiments().size(), 1U);
    // It ended: the next start is another night.
    EXPECT_THAT(nightly(file).out, HasSubstr("(experiment 2)"));
}

TEST(ReportFolderFiles, AreWholeOrNotThere) {
    vsb::harness::ScratchFolder scratch;
    const auto path = scratch.file("a") / "b";
    const ReportFolder folder(path);
    folder.write("night", "x.txt", "one");
    folder.write("night", "x.txt", "two");
    EXPECT_EQ(vsb::harness::file_text(path / "night" / "x.txt"), "two");
    folder.point_latest("night");
    folder.point_latest("other");
    EXPECT_EQ(std::filesystem::read_symlink(path / "latest"), "other");
    // A folder stands where the file should.
    std::filesystem::create_directory(path / "night" / "y.txt");
    try {
        folder.write("night", "y.txt", "three");
        ADD_FAILURE();
    } catch (const Failure& failure) {
        EXPECT_EQ(failure.code, kNotMeasured);
        EXPECT_THAT(failure.what(), HasSubstr("y.txt: cannot be written"));
    }
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path / "night"))
        files += entry.path().filename().string().ends_with(".part") ? 100U : 1U;
    EXPECT_EQ(files, 2U);
    EXPECT_THROW(ReportFolder{path}, Failure);
}

}  // namespace
}  // namespace vsb::cli
