#include "datasets/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "datasets/store_fixture.h"

namespace vsb::datasets {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class StoreTest : public testing::Test {
  protected:
    std::filesystem::path file() const { return scratch_.file("runs.db"); }
    Store open(OpenMode mode = OpenMode::read_write) const { return Store::open(file(), mode); }

  private:
    ScratchFolder scratch_;
};

// The message of the std::invalid_argument that work throws.
template <class Work>
std::string complaint(Work work) {
    try {
        work();
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "(none)";
}

TEST_F(StoreTest, KeepsAnExperimentAsGiven) {
    Id id = 0;
    {
        Store store = open();
        const auto stored = store.create(small_experiment());
        EXPECT_EQ(stored.status, ExperimentStatus::running);
        EXPECT_EQ(stored.uuid.size(), 36U);
        EXPECT_TRUE(stored.finished.empty());
        id = stored.id;
        store.set_status(id, ExperimentStatus::finished);
    }
    const auto given = small_experiment();
    const auto found = open(OpenMode::read_only).find("last");
    EXPECT_EQ(found.id, id);
    EXPECT_EQ(found.name, given.name);
    EXPECT_EQ(found.target, given.target);
    EXPECT_EQ(found.seed, given.seed);
    EXPECT_EQ(found.pairs, given.pairs);
    EXPECT_EQ(found.config, given.config);
    EXPECT_EQ(found.tool_version, given.tool_version);
    EXPECT_EQ(found.project_commit, given.project_commit);
    EXPECT_EQ(found.environment, given.environment);
    EXPECT_EQ(found.status, ExperimentStatus::finished);
    EXPECT_FALSE(found.finished.empty());
    ASSERT_EQ(found.states.size(), 2U);
    EXPECT_EQ(found.states[1].label, "B");
    EXPECT_EQ(found.states[1].spec, "policy=deferred-notify");
    ASSERT_EQ(found.workloads.size(), 2U);
    EXPECT_EQ(found.workloads[1].name, "rtt/4K");
    EXPECT_EQ(found.workloads[0].recv_bytes, 65536);
    EXPECT_EQ(found.workloads[0].writes, 1048576);
}

TEST_F(StoreTest, EnvironmentKnownAtTheEndIsAddedOrReplaced) {
    Store store = open();
    const auto first = store.create(small_experiment());
    const auto second = store.create(small_experiment());
    store.set_environment(first.id, "load_end", "0.10");
    store.set_environment(first.id, "load_end", "0.20");
    auto expected = small_experiment().environment;
    EXPECT_EQ(store.find(std::to_string(second.id)).environment, expected);
    expected["load_end"] = "0.20";
    EXPECT_EQ(store.find(std::to_string(first.id)).environment, expected);
    EXPECT_THROW(store.set_environment(first.id, "", "x"), std::invalid_argument);
    EXPECT_THROW(store.set_environment(99, "load_end", "x"), std::invalid_argument);
}

TEST_F(StoreTest, KeepsATrialAsGiven) {
    Store store = open();
    const auto experiment = store.create(small_experiment());
    auto trial = ok_trial(experiment, 1, 0, 3, PairOrder::ba, 1.5);
    trial.samples = {{"rtt", "ns", {20'000, 0, 18'446'744'073'709'551'615ULL, 19'500}}};
    const Id id = store.add(experiment.id, trial);

    const auto trials = store.trials(experiment.id, true);
    ASSERT_EQ(trials.size(), 1U);
    EXPECT_EQ(trials[0].id, id);
    EXPECT_EQ(trials[0].workload_id, experiment.workloads[1].id);
    EXPECT_EQ(trials[0].state_id, experiment.states[0].id);
    EXPECT_EQ(trials[0].pair, 3);
    EXPECT_EQ(trials[0].pair_order, PairOrder::ba);
    EXPECT_EQ(trials[0].position, 2);
    EXPECT_EQ(trials[0].started, trial.started);
    EXPECT_EQ(trials[0].wall_time_ns, trial.wall_time_ns);
    ASSERT_EQ(trials[0].measurements.size(), 2U);
    EXPECT_EQ(trials[0].measurements[0].metric, "throughput");
    EXPECT_EQ(trials[0].measurements[0].value, 1.5);
    EXPECT_EQ(trials[0].measurements[1].metric, "recv_calls");
    ASSERT_EQ(trials[0].samples.size(), 1U);
    EXPECT_EQ(trials[0].samples[0].metric, "rtt");
    EXPECT_EQ(trials[0].samples[0].unit, "ns");
    EXPECT_EQ(trials[0].samples[0].values, trial.samples[0].values);
    EXPECT_TRUE(store.trials(experiment.id)[0].samples.empty());
}

TEST_F(StoreTest, PairsWholePairsInScheduleOrderHeadlineFirst) {
    Store store = open();
    const auto experiment = store.create(small_experiment());
    // The second workload is run first: order comes from the schedule, not from the clock.
    store.add(experiment.id, ok_trial(experiment, 1, 0, 1, PairOrder::ab, 7));
    store.add(experiment.id, ok_trial(experiment, 1, 1, 1, PairOrder::ab, 8));
    record_pairs(store, experiment, 2);
    store.add(experiment.id, ok_trial(experiment, 0, 0, 3, PairOrder::ab, 9));  // half a pair

    const auto series = store.paired(experiment.id);
    ASSERT_EQ(series.size(), 4U);
    EXPECT_EQ(series[0].workload, "fixed/64B");
    EXPECT_EQ(series[0].metric, "throughput");
    EXPECT_EQ(series[0].unit, "Gbit/s");
    EXPECT_TRUE(series[0].higher_is_better);
    EXPECT_EQ(series[1].metric, "recv_calls");
    EXPECT_FALSE(series[1].higher_is_better);
    EXPECT_EQ(series[2].workload, "rtt/4K");
    ASSERT_EQ(series[0].pairs.size(), 2U);
    EXPECT_EQ(series[0].pairs[0].pair, 1);
    EXPECT_EQ(series[0].pairs[0].order, PairOrder::ab);
    EXPECT_EQ(series[0].pairs[0].a, 1.01);
    EXPECT_EQ(series[0].pairs[0].b, 2.01);
    EXPECT_EQ(series[0].pairs[1].order, PairOrder::ba);
    EXPECT_EQ(series[0].lost_a + series[0].lost_b, 0U);  // pair 3 is under way, not lost

    const auto swapped = store.paired(experiment.id, "B", "A");
    EXPECT_EQ(swapped[0].pairs[0].order, PairOrder::ba);
    EXPECT_EQ(swapped[0].pairs[0].a, 2.01);
}

TEST_F(StoreTest, NeverPairsAcrossAttempts) {
    Store store = open();
    const auto experiment = store.create(small_experiment());
    store.add(experiment.id, ok_trial(experiment, 0, 0, 1, PairOrder::ab, 1));
    auto failed = ok_trial(experiment, 0, 1, 1, PairOrder::ab, 2);
    failed.status = TrialStatus::failed;
    failed.reason = "short transfer";
    store.add(experiment.id, failed);
    auto again = ok_trial(experiment, 0, 1, 1, PairOrder::ab, 3);
    again.attempt = 2;
    store.add(experiment.id, again);

    auto series = store.paired(experiment.id);
    ASSERT_FALSE(series.empty());
    EXPECT_TRUE(series[0].pairs.empty());
    EXPECT_EQ(series[0].lost_a, 0U);
    EXPECT_EQ(series[0].lost_b, 1U);

    // Resume: both lone halves go, the pair is measured anew.
    EXPECT_EQ(store.invalidate_lone_halves(experiment.id, "its partner was not measured"), 2U);
    for (const std::size_t state : {0U, 1U}) {
        auto third =
            ok_trial(experiment, 0, state, 1, PairOrder::ba, 5.0 + static_cast<double>(state));
        third.attempt = 3;
        store.add(experiment.id, third);
    }
    series = store.paired(experiment.id);
    ASSERT_EQ(series[0].pairs.size(), 1U);
    EXPECT_EQ(series[0].pairs[0].a, 5);
    EXPECT_EQ(series[0].pairs[0].b, 6);
    EXPECT_EQ(series[0].pairs[0].order, PairOrder::ba);
    EXPECT_EQ(series[0].lost_a + series[0].lost_b, 0U);
    EXPECT_EQ(store.invalidate_lone_halves(experiment.id, "again"), 0U);
}

TEST_F(StoreTest, CountsLostPairsByTheStateThatLostThem) {
    Store store = open();
    const auto experiment = store.create(small_experiment());
    record_pairs(store, experiment, 1);
    const auto lose = [&](std::int64_t pair, std::size_t state, TrialStatus status) {
        auto trial = ok_trial(experiment, 0, state, pair, PairOrder::ab, 1);
        trial.status = status;
        trial.reason = "lost";
        store.add(experiment.id, trial);
    };
    lose(2, 0, TrialStatus::failed);  // B of pair 2 was not run
    store.add(experiment.id, ok_trial(experiment, 0, 0, 3, PairOrder::ab, 1));
    lose(3, 1, TrialStatus::failed);
    store.add(experiment.id, ok_trial(experiment, 0, 0, 4, PairOrder::ab, 1));
    lose(4, 1, TrialStatus::interrupted);
    lose(5, 0, TrialStatus::invalid);
    lose(5, 1, TrialStatus::failed);  // B failed, so A's half was made invalid
    const auto series = store.paired(experiment.id);
    EXPECT_EQ(series[0].pairs.size(), 1U);
    EXPECT_EQ(series[0].lost_a, 1U);
    EXPECT_EQ(series[0].lost_b, 3U);
}

TEST_F(StoreTest, AMetricThatOneHalfLacksLosesThatPairOfIt) {
    Store store = open();
    const auto experiment = store.create(small_experiment());
    record_pairs(store, experiment, 1);
    store.add(experiment.id, ok_trial(experiment, 0, 0, 2, PairOrder::ab, 1));
    auto without = ok_trial(experiment, 0, 1, 2, PairOrder::ab, 2);
    without.measurements.pop_back();
    store.add(experiment.id, without);
    const auto series = store.paired(experiment.id);
    ASSERT_EQ(series.size(), 2U);
    EXPECT_EQ(series[0].pairs.size(), 2U);
    EXPECT_EQ(series[1].pairs.size(), 1U);
    EXPECT_EQ(series[1].lost_a, 0U);
    EXPECT_EQ(series[1].lost_b, 1U);
}

TEST_F(StoreTest, PairsComeInTheOrderTheyWereRun) {
    Store store = open();
    const auto experiment = store.create(small_experiment());
    for (const std::int64_t pair : {2, 3, 1}) {
        store.add(experiment.id, ok_trial(experiment, 0, 1, pair, PairOrder::ba, 2));
        store.add(experiment.id, ok_trial(experiment, 0, 0, pair, PairOrder::ba, 1));
    }
    std::vector<std::int64_t> numbers;
    const auto series = store.paired(experiment.id);
    for (const auto& pair : series.at(0).pairs) {
        numbers.push_back(pair.pair);
    }
    EXPECT_THAT(numbers, ElementsAre(2, 3, 1));
}

TEST_F(StoreTest, RefusesASecondOkTrial) {
    Store store = open();
    const auto experiment = store.create(small_experiment());
    record_pairs(store, experiment, 1);
    auto second = ok_trial(experiment, 0, 0, 1, PairOrder::ab, 5);
    second.attempt = 2;
    EXPECT_THAT(complaint([&] { store.add(experiment.id, second); }),
                HasSubstr("an ok trial already"));
    // The index itself, without our question before it.
    EXPECT_THROW(run_sql(file(),
                         "INSERT INTO trial SELECT NULL, experiment_id, workload_id, state_id, "
                         "pair, pair_order, position, 2, status, reason, started, wall_time_ns "
                         "FROM trial WHERE id = 1"),
                 sql::Error);
    // A failed one may stand beside it, once for each attempt.
    second.status = TrialStatus::failed;
    second.reason = "a guest oopsed";
    store.add(experiment.id, second);
    EXPECT_THAT(complaint([&] { store.add(experiment.id, second); }),
                HasSubstr("this attempt was recorded already"));
    EXPECT_EQ(store.trials(experiment.id).size(), 3U);
}

TEST_F(StoreTest, RefusesWhatIsNoTrial) {
    Store store = open();
    const auto experiment = store.create(small_experiment());
    const auto other = store.create(small_experiment());
    const auto good = ok_trial(experiment, 0, 0, 1, PairOrder::ab, 1);
    const auto tried = [&](auto change) {
        auto trial = good;
        change(trial);
        return complaint([&] { store.add(experiment.id, trial); });
    };
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (const double value : {kInfinity, -kInfinity, std::nan("")}) {
        EXPECT_THAT(tried([&](auto& t) { t.measurements[0].value = value; }),
                    HasSubstr("throughput is not a finite number"));
    }
    EXPECT_THAT(tried([](auto& t) { t.pair = 0; }), HasSubstr("numbered from 1"));
    EXPECT_THAT(tried([](auto& t) { t.position = 3; }), HasSubstr("position"));
    EXPECT_THAT(tried([](auto& t) { t.attempt = 0; }), HasSubstr("attempt"));
    EXPECT_THAT(tried([](auto& t) { t.wall_time_ns = -1; }), HasSubstr("negative"));
    EXPECT_THAT(tried([](auto& t) { t.reason = "why"; }), HasSubstr("yet has a reason"));
    EXPECT_THAT(tried([](auto& t) { t.status = TrialStatus::failed; }), HasSubstr("no reason"));
    EXPECT_THAT(tried([](auto& t) { t.measurements[1] = t.measurements[0]; }),
                HasSubstr("given twice"));
    EXPECT_THAT(tried([](auto& t) { t.measurements[0].metric = ""; }), HasSubstr("no metric"));
    EXPECT_THAT(tried([](auto& t) { t.started = "yesterday"; }), HasSubstr("refuses this"));
    EXPECT_THAT(tried([&](auto& t) { t.workload_id = other.workloads[0].id; }),
                HasSubstr("FOREIGN KEY"));
    EXPECT_THAT(tried([&](auto& t) { t.state_id = 99; }), HasSubstr("FOREIGN KEY"));
    EXPECT_TRUE(store.trials(experiment.id).empty());
    store.add(experiment.id, good);
}

// The file keeps its own rules against whoever writes to it.
TEST_F(StoreTest, TheSchemaItselfRefusesNumbersThatAreNone) {
    Store store = open();
    const auto experiment = store.create(small_experiment());
    record_pairs(store, experiment, 1);
    const auto insert = [&](const std::string& value) {
        run_sql(file(), "INSERT INTO measurement VALUES (1, 9, 'm', '1', " + value + ")");
    };
    for (const char* value : {"1e999", "-1e999", "NULL", "'fast'", "x'00'", "0.0 * 1e999"}) {
        EXPECT_THROW(insert(value), sql::Error) << value;
    }
    insert("-1.7976931348623157e308");
}

TEST_F(StoreTest, RefusesWhatIsNoExperiment) {
    Store store = open();
    const auto tried = [&](auto change) {
        auto experiment = small_experiment();
        change(experiment);
        return complaint([&] { store.create(experiment); });
    };
    EXPECT_THAT(tried([](auto& e) { e.name = ""; }), HasSubstr("no name"));
    EXPECT_THAT(tried([](auto& e) { e.target = ""; }), HasSubstr("no target"));
    EXPECT_THAT(tried([](auto& e) { e.states.clear(); }), HasSubstr("no states"));
    EXPECT_THAT(tried([](auto& e) { e.workloads.clear(); }), HasSubstr("no workloads"));
    EXPECT_THAT(tried([](auto& e) { e.states[1].label = "A"; }), HasSubstr("labelled A"));
    EXPECT_THAT(tried([](auto& e) { e.workloads[1].name = "fixed/64B"; }), HasSubstr("fixed/64B"));
    EXPECT_THAT(tried([](auto& e) { e.workloads[1].payload_bytes = -1; }), HasSubstr("negative"));
    EXPECT_TRUE(store.experiments().empty());
}

TEST_F(StoreTest, FindNamesWhatThereIs) {
    Store store = open();
    EXPECT_THAT(complaint([&] { store.find("last"); }), HasSubstr("holds none yet"));
    store.create(small_experiment());
    const auto second = store.create(small_experiment());
    EXPECT_EQ(store.find("last").id, second.id);
    EXPECT_EQ(store.find("1").id, 1);
    for (const char* wanted : {"7", "first", "", "1x", "-1", " 1", "99999999999999999999"}) {
        EXPECT_THAT(complaint([&] { store.find(wanted); }), HasSubstr("2 demo, 1 demo")) << wanted;
    }
    EXPECT_THAT(complaint([&] { store.paired(1, "A", "C"); }), HasSubstr("it has A, B"));
    EXPECT_THAT(complaint([&] { store.paired(1, "A", "A"); }), HasSubstr("with itself"));
    EXPECT_THAT(complaint([&] { store.set_status(9, ExperimentStatus::failed); }),
                HasSubstr("no experiment '9'"));
}

TEST_F(StoreTest, AReadOnlyStoreRefusesWrites) {
    { open().create(small_experiment()); }
    Store store = open(OpenMode::read_only);
    EXPECT_THROW(store.create(small_experiment()), std::logic_error);
    EXPECT_EQ(store.experiments().size(), 1U);
}

TEST_F(StoreTest, ImportingTwiceIsImportingOnce) {
    Store store = open();
    store.create(small_experiment());
    auto experiment = small_experiment();
    TrialRecord trial;
    trial.workload_id = 2;
    trial.state_id = 1;
    trial.pair = 1;
    trial.position = 1;
    trial.measurements = {{"rtt_mean", "us", 126.968}};
    const auto first =
        store.import(experiment, std::vector{trial}, ExperimentStatus::finished, "a file's bytes");
    EXPECT_TRUE(first.is_new);
    EXPECT_EQ(first.experiment.status, ExperimentStatus::finished);
    const auto trials = store.trials(first.experiment.id);
    ASSERT_EQ(trials.size(), 1U);
    EXPECT_EQ(trials[0].workload_id, first.experiment.workloads[1].id);
    EXPECT_EQ(trials[0].state_id, first.experiment.states[0].id);

    const auto again =
        store.import(experiment, std::vector{trial}, ExperimentStatus::finished, "a file's bytes");
    EXPECT_FALSE(again.is_new);
    EXPECT_EQ(again.experiment.id, first.experiment.id);
    EXPECT_EQ(store.trials(first.experiment.id).size(), 1U);
    const auto other =
        store.import(experiment, std::vector{trial}, ExperimentStatus::finished, "other bytes");
    EXPECT_TRUE(other.is_new);

    trial.state_id = 3;
    EXPECT_THAT(complaint([&] {
                    store.import(experiment, std::vector{trial}, ExperimentStatus::failed, "x");
                }),
                HasSubstr("which there is not"));
    EXPECT_EQ(store.experiments().size(), 3U);  // nothing of the refused one
}

TEST_F(StoreTest, AnImportHasTheDatesOfItsTrials) {
    Store store = open();
    std::vector<TrialRecord> trials(2);
    for (std::size_t i = 0; i < 2; ++i) {
        trials[i].workload_id = 1;
        trials[i].state_id = static_cast<Id>(i + 1);
        trials[i].pair = 1;
        trials[i].position = static_cast<int>(i + 1);
        trials[i].measurements = {{"throughput", "Gbit/s", 1.0}};
    }
    trials[0].started = "2026-02-03T04:05:07Z";
    trials[1].started = "2026-02-03T04:05:06Z";
    const auto dated = store.import(small_experiment(), trials, ExperimentStatus::finished, "a");
    EXPECT_EQ(dated.experiment.started, "2026-02-03T04:05:06Z");
    EXPECT_EQ(dated.experiment.finished, "2026-02-03T04:05:07Z");
    EXPECT_EQ(store.find(std::to_string(dated.experiment.id)).started, "2026-02-03T04:05:06Z");
    trials[0].started = trials[1].started = "";
    const auto undated = store.import(small_experiment(), trials, ExperimentStatus::finished, "b");
    EXPECT_GT(undated.experiment.started, "2026-02-04");
}

// The headline alone, paired as paired() does it: lost, lone and repeated runs included.
TEST_F(StoreTest, HeadlinesAreTheFirstOfThePairedSeries) {
    Store store = open();
    const auto experiment = store.create(small_experiment());
    record_pairs(store, experiment, 3);
    auto failed = ok_trial(experiment, 0, 0, 4, PairOrder::ab, 1);
    failed.status = TrialStatus::failed;
    failed.reason = "as told";
    failed.measurements.clear();
    store.add(experiment.id, failed);
    auto lone = ok_trial(experiment, 1, 1, 1, PairOrder::ba, 9);
    lone.measurements = {{"rtt_mean", "us", 9}, {"a_count", "1", 3}};
    store.add(experiment.id, lone);
    for (int round = 0; round < 2; ++round) {  // the statement is used again
        const auto all = store.paired(experiment.id);
        const auto headlines = store.headlines(experiment);
        ASSERT_EQ(headlines.size(), 2U);
        EXPECT_EQ(headlines[0].metric, "throughput");
        EXPECT_EQ(headlines[1].metric, "rtt_mean");
        EXPECT_FALSE(headlines[1].higher_is_better);
        EXPECT_EQ(headlines[0].lost_a, 1U);
        for (const PairedSeries& one : headlines) {
            const auto same = std::ranges::find_if(all, [&](const PairedSeries& other) {
                return other.workload == one.workload && other.metric == one.metric;
            });
            ASSERT_NE(same, all.end());
            EXPECT_EQ(one.unit, same->unit);
            EXPECT_EQ(one.lost_a, same->lost_a);
            EXPECT_EQ(one.lost_b, same->lost_b);
            ASSERT_EQ(one.pairs.size(), same->pairs.size());
            for (std::size_t i = 0; i < one.pairs.size(); ++i) {
                EXPECT_EQ(one.pairs[i].pair, same->pairs[i].pair);
                EXPECT_EQ(one.pairs[i].order, same->pairs[i].order);
                EXPECT_EQ(one.pairs[i].a, same->pairs[i].a);
                EXPECT_EQ(one.pairs[i].b, same->pairs[i].b);
            }
        }
    }
    auto none = experiment;
    none.states.pop_back();
    EXPECT_THROW(store.headlines(none), std::invalid_argument);
}

TEST_F(StoreTest, HostileTextComesBackByteForByte) {
    Store store = open();
    auto experiment = small_experiment();
    constexpr char kName[] = "a\0b'); DROP TABLE trial; --\xff\xfe";
    experiment.name = std::string(kName, sizeof kName - 1);
    experiment.environment["k\n\x1b[31m"] = "\xe2\x80\xae";
    const auto stored = store.create(experiment);
    EXPECT_EQ(store.find("last").name, experiment.name);
    EXPECT_EQ(store.find("last").environment, experiment.environment);
    EXPECT_EQ(stored.name, experiment.name);
}

}  // namespace
}  // namespace vsb::datasets
