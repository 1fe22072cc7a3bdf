#include "harness/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>

#include "harness/experiment_toml.h"
#include "harness/fake_target.h"
#include "harness/schedule.h"
#include "harness/scratch_folder.h"
#include "harness/settings.h"

namespace vsb::harness {
namespace {

using datasets::ExperimentRecord;
using datasets::ExperimentStatus;
using datasets::OpenMode;
using datasets::PairOrder;
using datasets::Store;
using datasets::TrialRecord;
using datasets::TrialStatus;
using testing::ElementsAre;
using testing::HasSubstr;

Experiment small_experiment(std::int64_t pairs = 4) {
    Settings settings;
    settings.name = "small";
    settings.target = "fake";
    settings.pairs = pairs;
    settings.payloads = {64};
    settings.workload = {Kind::fixed, Kind::rtt};
    settings.seed = 5;
    return make_experiment(settings);
}

Clock ticking_clock() {
    auto now_ns = std::make_shared<std::int64_t>(0);
    return {[] { return std::string("2026-01-31T12:00:00Z"); },
            [now_ns] { return *now_ns += 1000; }};
}

// The headline says exactly which trial it is of.
double exact_value(const TrialRequest& request) {
    return static_cast<double>(request.pair) + (request.state == 0 ? 0.25 : 0.5) +
           (request.workload.kind == Kind::rtt ? 100 : 0);
}

TrialResult exact_result(const TrialRequest& request) {
    TrialResult result;
    const bool rtt = request.workload.kind == Kind::rtt;
    result.measurements = {
        {rtt ? "rtt_mean" : "throughput", rtt ? "us" : "Gbit/s", exact_value(request)},
        {"recv_calls", "1", 7}};
    return result;
}

class Recorder : public Observer {
  public:
    void begin(const RunBegin& event) override {
        log.push_back("begin " + std::to_string(event.pairs_done) + "/" +
                      std::to_string(event.pairs_planned));
    }
    void trial(const TrialRecord& trial, const Workload&) override {
        ++trials;
        if (throw_after != 0 && trials == throw_after) throw std::runtime_error("killed");
        EXPECT_GT(trial.id, 0);
    }
    void pair(const PairEnd& event) override {
        lost += event.lost.empty() ? 0U : 1U;
        last_over = event.pairs_over;
    }
    void planned(const PairsPlanned& event) override {
        log.push_back("planned " + event.workload.name + " " + std::to_string(event.pairs));
    }
    void warning(const std::string& code, const std::string& text) override {
        log.push_back("warning " + code + ": " + text);
    }

    std::vector<std::string> log;
    std::size_t trials = 0;
    std::size_t throw_after = 0;
    std::size_t lost = 0;
    std::size_t last_over = 0;
};

class RunnerTest : public testing::Test {
  protected:
    Store open() const { return Store::open(folder_.file("runs.db"), OpenMode::read_write); }

    RunOutcome run(Store& store, Target& target, const Experiment& experiment,
                   std::function<bool()> stop = {}) {
        return run_experiment({store, target, recorder_, ticking_clock(), std::move(stop)},
                              experiment, {{{"kernel", "test"}}, "0", ""});
    }
    RunOutcome resume(Store& store, Target& target, const ExperimentRecord& record) {
        const Experiment experiment = parse_experiment_toml(record.config, "stored");
        return resume_experiment({store, target, recorder_, ticking_clock(), {}}, experiment,
                                 record);
    }

    ScratchFolder folder_;
    Recorder recorder_;
};

// What must hold of the trials of an experiment that is complete.
void expect_complete(const Store& store, const ExperimentRecord& record,
                     const Experiment& experiment, Grouping grouping = Grouping::pair) {
    std::map<std::pair<datasets::Id, std::int64_t>, std::set<std::int64_t>> attempts_of_pair;
    std::map<std::tuple<datasets::Id, std::int64_t, datasets::Id>, int> ok;
    std::map<std::pair<datasets::Id, std::int64_t>, PairOrder> orders;
    for (const TrialRecord& trial : store.trials(record.id)) {
        if (trial.status != TrialStatus::ok) continue;
        ++ok[{trial.workload_id, trial.pair, trial.state_id}];
        attempts_of_pair[{trial.workload_id, trial.pair}].insert(trial.attempt);
        orders[{trial.workload_id, trial.pair}] = trial.pair_order;
        const bool a = trial.state_id == record.states[0].id;
        EXPECT_EQ(trial.position, (trial.pair_order == PairOrder::ab) == a ? 1 : 2);
    }
    const auto schedule =
        make_schedule(record.workloads.size(), experiment.pairs, experiment.seed, grouping);
    EXPECT_EQ(ok.size(), schedule.size() * 2) << "lost places";
    for (const auto& [place, times] : ok)
        EXPECT_EQ(times, 1) << "a place measured twice";
    for (const auto& [pair, attempts] : attempts_of_pair) {
        EXPECT_EQ(attempts.size(), 1U) << "a pair mixed from two attempts";
    }
    for (const PlannedPair& planned : schedule) {
        const auto at = orders.find({record.workloads[planned.workload].id, planned.pair});
        ASSERT_NE(at, orders.end());
        EXPECT_EQ(at->second, planned.order) << "not the stored schedule";
    }
}

TEST_F(RunnerTest, RecordsEveryTrialExactly) {
    Store store = open();
    FakeTarget target(exact_result);
    const Experiment experiment = small_experiment();
    const RunOutcome outcome = run(store, target, experiment);
    EXPECT_EQ(outcome.status, ExperimentStatus::finished);
    EXPECT_EQ(outcome.pairs_planned, 8U);
    EXPECT_EQ(outcome.pairs_whole, 8U);
    EXPECT_EQ(outcome.pairs_lost, 0U);

    const ExperimentRecord record = store.find("last");
    EXPECT_EQ(record.status, ExperimentStatus::finished);
    EXPECT_EQ(record.name, "small");
    EXPECT_EQ(record.pairs, 4);
    EXPECT_EQ(parse_experiment_toml(record.config, "stored"), experiment);
    EXPECT_EQ(record.environment.at("kernel"), "test");
    EXPECT_THAT(record.environment.at("topology"), HasSubstr("nothing was measured"));
    expect_complete(store, record, experiment);
    const auto series = store.paired(record.id);
    ASSERT_GE(series.size(), 4U);
    EXPECT_EQ(series[0].workload, "fixed/64B");
    EXPECT_EQ(series[0].metric, "throughput");
    ASSERT_EQ(series[0].pairs.size(), 4U);
    for (const auto& value : series[0].pairs) {
        EXPECT_EQ(value.a, static_cast<double>(value.pair) + 0.25);
        EXPECT_EQ(value.b, static_cast<double>(value.pair) + 0.5);
    }
    EXPECT_EQ(target.calls().back(), "stop");
    EXPECT_EQ(recorder_.log.front(), "begin 0/8");
    EXPECT_EQ(recorder_.last_over, 8U);
    // The clock ticks once before and once after a trial.
    EXPECT_EQ(store.trials(record.id).front().wall_time_ns, 1000);
}

TEST_F(RunnerTest, FollowsTheSchedule) {
    Store store = open();
    FakeTarget target(exact_result);
    const Experiment experiment = small_experiment();
    run(store, target, experiment);
    std::vector<std::string> expected;
    const auto workloads = workloads_of(experiment);
    for (const PlannedPair& planned : make_schedule(2, 4, experiment.seed)) {
        for (const int position : {1, 2}) {
            expected.push_back("run " + workloads[planned.workload].name + " " +
                               std::to_string(planned.pair) +
                               (state_at(planned.order, position) == 0 ? " A" : " B"));
        }
    }
    std::vector<std::string> runs;
    for (const std::string& call : target.calls()) {
        if (call.starts_with("run ")) runs.push_back(call);
    }
    EXPECT_EQ(runs, expected);
}

TEST_F(RunnerTest, BothHalvesOfAPairGetTheSameBytes) {
    Store store = open();
    std::map<std::pair<std::string, std::int64_t>, std::set<std::uint64_t>> seeds;
    FakeTarget target([&](const TrialRequest& request) {
        seeds[{request.workload.name, request.pair}].insert(request.seed);
        EXPECT_EQ(request.timeout_ns, 60'000'000'000);
        return exact_result(request);
    });
    run(store, target, small_experiment());
    std::set<std::uint64_t> different;
    for (const auto& [place, values] : seeds) {
        EXPECT_EQ(values.size(), 1U);
        different.insert(values.begin(), values.end());
    }
    EXPECT_EQ(different.size(), 4U);
}

TEST_F(RunnerTest, ExperimentsWithNeighbouringSeedsShareNoBytes) {
    Store store = open();
    std::set<std::uint64_t> seeds;
    FakeTarget target([&](const TrialRequest& request) {
        if (request.workload.kind == Kind::fixed && request.state == 0) {
            EXPECT_TRUE(seeds.insert(request.seed).second) << request.pair;
        }
        return exact_result(request);
    });
    Experiment experiment = small_experiment();
    for (experiment.seed = 5; experiment.seed < 8; ++experiment.seed)
        run(store, target, experiment);
    EXPECT_EQ(seeds.size(), 12U);
}

TEST_F(RunnerTest, AFailedTrialLosesItsPairAndTheRunGoesOn) {
    Store store = open();
    FakeTarget target([](const TrialRequest& request) {
        if (request.workload.kind == Kind::fixed && request.pair == 2 && request.position == 1) {
            TrialResult failed = exact_result(request);
            failed.failure = "bytes differ: planned 64, received 63";
            return failed;
        }
        return exact_result(request);
    });
    const RunOutcome outcome = run(store, target, small_experiment());
    EXPECT_EQ(outcome.status, ExperimentStatus::failed);
    EXPECT_EQ(outcome.pairs_whole, 7U);
    EXPECT_EQ(outcome.pairs_lost, 1U);
    EXPECT_EQ(outcome.first_failure, "fixed/64B, pair 2: bytes differ: planned 64, received 63");
    EXPECT_EQ(recorder_.lost, 1U);
    EXPECT_EQ(recorder_.last_over, 8U);

    const ExperimentRecord record = store.find("last");
    EXPECT_EQ(record.status, ExperimentStatus::failed);
    std::size_t failed = 0;
    const auto trials = store.trials(record.id);
    EXPECT_EQ(trials.size(), 15U) << "the partner of a failed first half is not run";
    for (const TrialRecord& trial : trials) {
        if (trial.status != TrialStatus::failed) continue;
        ++failed;
        EXPECT_EQ(trial.reason, "bytes differ: planned 64, received 63");
        EXPECT_TRUE(trial.measurements.empty()) << "figures beside a failure";
    }
    EXPECT_EQ(failed, 1U);
    const auto series = store.paired(record.id);
    EXPECT_EQ(series.front().pairs.size(), 3U);
    EXPECT_EQ(series.front().lost_a + series.front().lost_b, 1U);
}

TEST_F(RunnerTest, ATargetThatThrowsOrReturnsNonsenseIsAFailedTrial) {
    const auto reason_of = [&](FakeTarget::Script script) {
        Store store = open();
        FakeTarget target(std::move(script));
        const RunOutcome outcome = run(store, target, small_experiment(2));
        EXPECT_EQ(outcome.status, ExperimentStatus::failed);
        EXPECT_EQ(outcome.pairs_whole, 0U);
        for (const TrialRecord& trial : store.trials(outcome.id)) {
            EXPECT_TRUE(trial.measurements.empty());
        }
        return store.trials(outcome.id).front().reason;
    };
    EXPECT_EQ(reason_of([](const TrialRequest&) -> TrialResult {
                  throw std::runtime_error("the guest is gone");
              }),
              "the guest is gone");
    EXPECT_EQ(reason_of([](const TrialRequest&) { return TrialResult{}; }),
              "the target returned no figures");
    EXPECT_EQ(reason_of([](const TrialRequest&) {
                  TrialResult result;
                  result.measurements = {
                      {"throughput", "Gbit/s", std::numeric_limits<double>::quiet_NaN()}};
                  return result;
              }),
              "throughput is not a finite number");
}

TEST_F(RunnerTest, AStateThatCannotBePreparedFailsItsTrials) {
    class Unprepared : public FakeTarget {
      public:
        using FakeTarget::FakeTarget;
        void prepare(std::size_t state) override {
            if (state == 1) throw std::runtime_error("B does not boot");
            FakeTarget::prepare(state);
        }
    };
    Store store = open();
    Unprepared target(exact_result);
    const RunOutcome outcome = run(store, target, small_experiment(2));
    EXPECT_EQ(outcome.pairs_lost, 4U);
    EXPECT_THAT(outcome.first_failure, HasSubstr("B does not boot"));
    EXPECT_EQ(target.calls().back(), "stop");
}

TEST_F(RunnerTest, FreshSaysHowOftenAStateIsPrepared) {
    const auto prepares = [&](Fresh fresh) {
        Store store = open();
        FakeTarget target(exact_result);
        Experiment experiment = small_experiment();
        experiment.fresh = fresh;
        run(store, target, experiment);
        std::string states;
        for (const std::string& call : target.calls()) {
            if (call.starts_with("prepare ")) states += call.back();
        }
        return states;
    };
    EXPECT_EQ(prepares(Fresh::trial).size(), 16U);
    EXPECT_EQ(prepares(Fresh::run).size(), 2U);
    const std::string by_state = prepares(Fresh::state);
    // Whenever the state changes, and only then.
    for (std::size_t i = 1; i < by_state.size(); ++i)
        EXPECT_NE(by_state[i], by_state[i - 1]);
    EXPECT_GE(by_state.size(), 9U);
    EXPECT_LE(by_state.size(), 16U);
}

TEST_F(RunnerTest, WarningsAreKeptOnce) {
    Store store = open();
    FakeTarget target([](const TrialRequest& request) {
        TrialResult result = exact_result(request);
        result.warnings = {{"few-cpus", "three threads on two CPUs"}};
        return result;
    });
    run(store, target, small_experiment());
    EXPECT_EQ(store.find("last").environment.at("warning.few-cpus"), "three threads on two CPUs");
    EXPECT_THAT(recorder_.log,
                ElementsAre("begin 0/8", "warning few-cpus: three threads on two CPUs"));
}

// Stopped by Ctrl-C after any number of trials, and resumed: the same as if it had never stopped.
TEST_F(RunnerTest, ResumeAfterAnyPrefixCompletesTheSchedule) {
    const Experiment experiment = small_experiment();
    for (std::size_t done = 0; done <= 16; ++done) {
        SCOPED_TRACE(done);
        Store store = open();
        std::size_t trials = 0;
        FakeTarget first([&](const TrialRequest& request) {
            ++trials;
            return exact_result(request);
        });
        const RunOutcome stopped = run(store, first, experiment, [&] { return trials >= done; });
        EXPECT_EQ(stopped.status,
                  done < 16 ? ExperimentStatus::interrupted : ExperimentStatus::finished);
        EXPECT_EQ(trials, done);
        EXPECT_EQ(stopped.pairs_whole, done / 2);
        EXPECT_EQ(stopped.pairs_lost, 0U);

        FakeTarget second(exact_result);
        const ExperimentRecord record = store.find("last");
        const RunOutcome resumed = resume(store, second, record);
        EXPECT_EQ(resumed.status, ExperimentStatus::finished);
        EXPECT_EQ(resumed.pairs_whole, 8U);
        expect_complete(store, record, experiment);
        std::size_t invalid = 0;
        for (const TrialRecord& trial : store.trials(record.id)) {
            if (trial.status == TrialStatus::invalid) ++invalid;
        }
        EXPECT_EQ(invalid, done % 2) << "the lone half, and nothing else";
    }
}

// Ended without a word after any number of committed trials (nothing tells the store).
TEST_F(RunnerTest, ResumeAfterDeathAtAnyTrialCompletesTheSchedule) {
    const Experiment experiment = small_experiment();
    for (std::size_t died = 1; died <= 16; ++died) {
        SCOPED_TRACE(died);
        {
            Store store = open();
            FakeTarget target(exact_result);
            recorder_.trials = 0;
            recorder_.throw_after = died;
            EXPECT_THROW(run(store, target, experiment), std::runtime_error);
            EXPECT_EQ(target.calls().back(), "stop");
        }
        recorder_.throw_after = 0;
        Store store = open();
        FakeTarget target(exact_result);
        const ExperimentRecord record = store.find("last");
        EXPECT_EQ(store.trials(record.id).size(), died);
        const RunOutcome resumed = resume(store, target, record);
        EXPECT_EQ(resumed.status, ExperimentStatus::finished);
        expect_complete(store, record, experiment);
    }
}

TEST_F(RunnerTest, AStopWithinATrialIsRecordedAsInterrupted) {
    Store store = open();
    bool stop = false;
    FakeTarget target([&](const TrialRequest& request) {
        if (request.pair == 2) {
            stop = true;
            EXPECT_TRUE(request.stop());
            TrialResult cut;
            cut.failure = "interrupted";
            return cut;
        }
        return exact_result(request);
    });
    const Experiment experiment = small_experiment();
    const RunOutcome outcome = run(store, target, experiment, [&] { return stop; });
    EXPECT_EQ(outcome.status, ExperimentStatus::interrupted);
    EXPECT_EQ(outcome.pairs_lost, 0U);
    const auto trials = store.trials(outcome.id);
    EXPECT_EQ(trials.back().status, TrialStatus::interrupted);

    FakeTarget whole(exact_result);
    const ExperimentRecord record = store.find("last");
    EXPECT_EQ(resume(store, whole, record).status, ExperimentStatus::finished);
    expect_complete(store, record, experiment);
}

TEST_F(RunnerTest, ResumeRepeatsLostPairsAsANewAttempt) {
    Store store = open();
    FakeTarget failing(fake_script("fail-pair=3", "mismatch-pair=1,level=2"));
    const Experiment experiment = small_experiment();
    const RunOutcome first = run(store, failing, experiment);
    EXPECT_EQ(first.pairs_lost, 4U);
    EXPECT_EQ(first.pairs_whole, 4U);

    FakeTarget again(fake_script("fail-pair=3", "mismatch-pair=1,level=2"));
    const ExperimentRecord record = store.find("last");
    const RunOutcome second = resume(store, again, record);
    EXPECT_EQ(second.status, ExperimentStatus::finished);
    EXPECT_EQ(second.pairs_whole, 8U);
    EXPECT_EQ(recorder_.log.back(), "begin 4/8");
    expect_complete(store, record, experiment);
    EXPECT_EQ(store.find("last").status, ExperimentStatus::finished);
}

TEST_F(RunnerTest, ResumingAFinishedRunMeasuresNothing) {
    Store store = open();
    FakeTarget target(exact_result);
    run(store, target, small_experiment());
    FakeTarget idle(exact_result);
    EXPECT_EQ(resume(store, idle, store.find("last")).pairs_whole, 8U);
    EXPECT_THAT(idle.calls(), ElementsAre("stop"));
}

// A planner that asks for 23 pairs of fixed and for more than there may be of rtt, and keeps what
// it was shown.
struct ScriptedPlanner {
    std::vector<std::size_t> shown;  // pilot pairs, call by call
    Planner function() {
        return [this](const Experiment&, const datasets::PairedSeries& pilot) {
            shown.push_back(pilot.pairs.size());
            return PairPlan{pilot.metric == "throughput" ? 23 : 99, "as scripted"};
        };
    }
};

Experiment planned_experiment() {
    Settings settings;
    settings.name = "planned";
    settings.target = "fake";
    settings.pairs = 28;
    settings.until_halfwidth = 0.01;
    settings.payloads = {64};
    settings.workload = {Kind::fixed, Kind::rtt};
    settings.seed = 5;
    return make_experiment(settings);
}

// Pair numbers that each workload measured, and that both halves are there.
std::vector<std::size_t> whole_pairs(const Store& store, datasets::Id id) {
    std::vector<std::size_t> counts;
    std::set<std::string> seen;
    for (const auto& series : store.paired(id)) {
        if (seen.insert(series.workload).second) counts.push_back(series.pairs.size());
    }
    return counts;
}

TEST_F(RunnerTest, AnExperimentPlansItsPairsFromItsPilot) {
    Store store = open();
    FakeTarget target(exact_result);
    ScriptedPlanner planner;
    const Experiment experiment = planned_experiment();
    const RunOutcome outcome =
        run_experiment({store, target, recorder_, ticking_clock(), {}, planner.function()},
                       experiment, {{}, "0", ""});
    EXPECT_EQ(outcome.status, ExperimentStatus::finished);
    EXPECT_THAT(planner.shown, ElementsAre(20U, 20U));
    // 23 is rounded up to whole blocks of both orders, 99 down to what is allowed.
    EXPECT_THAT(whole_pairs(store, outcome.id), ElementsAre(24U, 28U));
    EXPECT_EQ(outcome.pairs_planned, 52U);
    EXPECT_EQ(outcome.pairs_whole, 52U);
    EXPECT_THAT(recorder_.log, ElementsAre("begin 0/40", "planned fixed/64B 24",
                                           "planned rtt/64B 28", HasSubstr("rtt/64B 99")));
    const ExperimentRecord record = store.find("last");
    EXPECT_EQ(record.environment.at("plan.pairs.fixed/64B"), "24");
    EXPECT_EQ(record.environment.at("plan.pairs.rtt/64B"), "28");
    EXPECT_EQ(record.environment.at("plan.why.rtt/64B"), "as scripted");
    EXPECT_THAT(record.environment.at("plan.rule"),
                HasSubstr("pilot of 20 pairs, then as many as its scatter asks for a half-width of "
                          "1% (95% interval, 80% assurance), at most 28"));
    EXPECT_THAT(record.environment.at("warning.plan-capped"), HasSubstr("than 28"));
    // As many AB as BA, since blocks are whole.
    for (const auto& series : store.paired(outcome.id)) {
        const auto ab =
            std::ranges::count(series.pairs, PairOrder::ab, &datasets::PairedValue::order);
        EXPECT_EQ(2 * ab, static_cast<std::ptrdiff_t>(series.pairs.size()));
    }
}

// The plan is made once and kept to, wherever the run was cut off.
TEST_F(RunnerTest, ResumeKeepsThePlan) {
    const Experiment experiment = planned_experiment();
    for (const std::size_t done : {0U, 7U, 79U, 80U, 81U, 97U, 103U}) {
        SCOPED_TRACE(done);
        Store store = open();
        std::size_t trials = 0;
        FakeTarget first([&](const TrialRequest& request) {
            ++trials;
            return exact_result(request);
        });
        ScriptedPlanner planner;
        const RunOutcome stopped =
            run_experiment({store, first, recorder_, ticking_clock(),
                            [&] { return trials >= done; }, planner.function()},
                           experiment, {{}, "0", ""});
        EXPECT_EQ(stopped.status, ExperimentStatus::interrupted);
        FakeTarget second(exact_result);
        const ExperimentRecord record = store.find("last");
        const RunOutcome resumed =
            resume_experiment({store, second, recorder_, ticking_clock(), {}, planner.function()},
                              parse_experiment_toml(record.config, "stored"), record);
        EXPECT_EQ(resumed.status, ExperimentStatus::finished);
        EXPECT_THAT(planner.shown, ElementsAre(20U, 20U)) << "planned once, from the pilot alone";
        EXPECT_THAT(whole_pairs(store, record.id), ElementsAre(24U, 28U));
        EXPECT_EQ(resumed.pairs_whole, 52U);
        EXPECT_EQ(resumed.pairs_planned, 52U);
    }
}

TEST_F(RunnerTest, WithoutAPlanThePilotIsAllThatIsMeasured) {
    Store store = open();
    FakeTarget target(exact_result);
    const Planner nothing = [](const Experiment&, const datasets::PairedSeries&) {
        return PairPlan{0, "no ratio"};
    };
    const RunOutcome outcome =
        run_experiment({store, target, recorder_, ticking_clock(), {}, nothing},
                       planned_experiment(), {{}, "0", ""});
    EXPECT_THAT(whole_pairs(store, outcome.id), ElementsAre(20U, 20U));
    EXPECT_THAT(store.find("last").environment.at("warning.plan-missing"),
                HasSubstr("fixed/64B: no ratio; rtt/64B: no ratio"));
    EXPECT_THROW(run(store, target, planned_experiment()), std::invalid_argument) << "no planner";
}

TEST_F(RunnerTest, ResumeRefusesAConfigurationThatDoesNotFitItsRecord) {
    Store store = open();
    FakeTarget target(exact_result);
    run(store, target, small_experiment());
    Experiment other = small_experiment();
    other.bytes_scale.all = 0.5;
    EXPECT_THROW(resume_experiment({store, target, recorder_, ticking_clock(), {}}, other,
                                   store.find("last")),
                 std::invalid_argument);
}

TEST_F(RunnerTest, AStoreThatFillsUpEndsTheRunAndKeepsWhatWasCommitted) {
    std::size_t kept = 0;
    {
        Store store = open();
        FakeTarget target([&](const TrialRequest& request) {
            if (++kept == 5) std::filesystem::remove(folder_.file("runs.db"));
            return exact_result(request);
        });
        EXPECT_THROW(run(store, target, small_experiment()), datasets::StoreWriteFailed);
        EXPECT_EQ(target.calls().back(), "stop");
        EXPECT_EQ(recorder_.trials, 4U);
    }
}

TEST(FakeScript, RefusesWhatItDoesNotKnow) {
    EXPECT_THROW(fake_script("policy=x", ""), std::invalid_argument);
    EXPECT_THROW(fake_script("level=0", ""), std::invalid_argument);
    EXPECT_THROW(fake_script("level=nan", ""), std::invalid_argument);
    EXPECT_THROW(fake_script("", "noise=-1"), std::invalid_argument);
    EXPECT_NO_THROW(fake_script("", "level=2,noise=0.1,fail-pair=1"));
}

TEST(FakeScript, NoiseIsDrawnFromTheSeedAndDiffersBetweenTrials) {
    const auto script = fake_script("noise=0.1", "noise=0.1");
    TrialRequest request;
    request.workload.name = "fixed/64B";
    const auto value = [&] { return script(request).measurements.front().value; };
    const double once = value();
    EXPECT_EQ(value(), once);
    request.seed = 2;
    EXPECT_NE(value(), once);
    request.seed = 1;
    request.state = 1;
    EXPECT_NE(value(), once);
}

// What a target that serves rounds is asked for, each call as two letters.
std::string asked(const FakeTarget& target) {
    std::string text;
    for (const std::string& call : target.calls()) {
        if (call == "stop") continue;
        text += call.starts_with("prepare") ? "|" : call.substr(4, 1);
        text += call.back();
    }
    return text;
}

TEST_F(RunnerTest, ARoundIsMeasuredStateByStateEachPreparedOnce) {
    Store store = open();
    FakeTarget target(exact_result, true);
    const Experiment experiment = small_experiment(2);
    const RunOutcome outcome = run(store, target, experiment);
    EXPECT_EQ(outcome.status, ExperimentStatus::finished);
    EXPECT_EQ(outcome.pairs_whole, 4U);
    expect_complete(store, store.find("last"), experiment, Grouping::round);
    // Two rounds, one AB and one BA, of f(ixed) and r(tt) in either order.
    std::string text = asked(target);
    for (const auto& [from, to] : {std::pair("rAfA", "fArA"), std::pair("rBfB", "fBrB")}) {
        for (std::size_t at = 0; (at = text.find(from)) != std::string::npos;)
            text.replace(at, 4, to);
    }
    EXPECT_THAT(text, testing::AnyOf("|AfArA|BfBrB|BfBrB|AfArA", "|BfBrB|AfArA|AfArA|BfBrB"));
}

TEST_F(RunnerTest, InARoundALostPairTakesNoOtherWithIt) {
    Store store = open();
    int rtts = 0;
    FakeTarget target(
        [&](const TrialRequest& request) {
            if (request.workload.kind != Kind::rtt || ++rtts != 1) return exact_result(request);
            TrialResult failed;
            failed.failure = "the guest's kernel reported 'BUG:'";
            return failed;
        },
        true);
    const Experiment experiment = small_experiment(2);
    const RunOutcome outcome = run(store, target, experiment);
    EXPECT_EQ(outcome.status, ExperimentStatus::failed);
    EXPECT_EQ(outcome.pairs_lost, 1U);
    EXPECT_EQ(outcome.pairs_whole, 3U);
    EXPECT_EQ(rtts, 3);  // the lost one's partner is not run
    FakeTarget again(exact_result, true);
    EXPECT_EQ(resume(store, again, store.find("last")).status, ExperimentStatus::finished);
    EXPECT_EQ(again.calls().size(), 5U);  // two states, two trials, stop
    expect_complete(store, store.find("last"), experiment, Grouping::round);
}

TEST_F(RunnerTest, ARoundCutOffAtAnyTrialIsResumedWhole) {
    for (int cut = 1; cut <= 15; ++cut) {
        Store store = open();
        int done = 0;
        FakeTarget target(
            [&](const TrialRequest& request) {
                ++done;
                return exact_result(request);
            },
            true);
        const Experiment experiment = small_experiment(4);
        const RunOutcome outcome = run(store, target, experiment, [&] { return done >= cut; });
        EXPECT_EQ(outcome.status, ExperimentStatus::interrupted);
        EXPECT_EQ(store.trials(outcome.id).size(), static_cast<std::size_t>(cut));
        FakeTarget again(exact_result, true);
        EXPECT_EQ(resume(store, again, store.find("last")).status, ExperimentStatus::finished);
        expect_complete(store, store.find("last"), experiment, Grouping::round);
    }
}

}  // namespace
}  // namespace vsb::harness
