#include "datasets/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "datasets/benchfmt.h"
#include "datasets/csv.h"
#include "datasets/google_benchmark.h"
#include "datasets/pairing.h"
#include "datasets/store_fixture.h"

namespace vsb::datasets {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

// Four whole pairs of fixed/64B, one of rtt/4K with samples, a failed trial of rtt/4K.
Recorded recorded() {
    const ScratchFolder folder;
    Store store = Store::open(folder.file("s.db"), OpenMode::read_write);
    const auto record = store.create(small_experiment());
    record_pairs(store, record, 4);
    for (const std::size_t state : {0U, 1U}) {
        auto trial = ok_trial(record, 1, state, 1, PairOrder::ab, 0);
        trial.measurements = {{"rtt_mean", "us", 12.5 + static_cast<double>(state)},
                              {"retries", "1", 0},
                              {"rtt_p50", "us", 11}};
        trial.samples = {{"rtt", "ns", {12000, 18446744073709551615ULL}}};
        store.add(record.id, trial);
    }
    auto failed = ok_trial(record, 1, 0, 2, PairOrder::ba, 0);
    failed.status = TrialStatus::failed;
    failed.reason = "bytes differ";
    failed.measurements.clear();
    store.add(record.id, failed);
    store.set_status(record.id, ExperimentStatus::finished);
    return {store.find("last"), store.trials(record.id, true), store.paired(record.id)};
}

// As reports write it: what is compared, and from which values.
std::string figures(const std::vector<PairedSeries>& all) {
    std::ostringstream out;
    out.precision(17);
    for (const PairedSeries& series : all) {
        out << series.workload << " " << series.metric << " " << series.unit << " "
            << series.higher_is_better << ":";
        for (const PairedValue& pair : series.pairs)
            out << " " << (pair.order == PairOrder::ab ? "AB" : "BA") << pair.a << "/" << pair.b;
        out << "\n";
    }
    return out.str();
}

TEST(ExportTest, TheCsvReadsBackAsTheSameSeries) {
    Recorded all = recorded();
    const Exported exported = to_pairs_csv(all);
    EXPECT_THAT(exported.left_out, ElementsAre("1 metrics with values that make no ratio"));
    std::istringstream in(exported.text);
    std::erase_if(all.series, [](const PairedSeries& each) { return each.metric == "retries"; });
    EXPECT_EQ(all.series.size(), 4U);
    EXPECT_EQ(figures(read_csv(in, "c", {})), figures(all.series));
}

TEST(ExportTest, JsonLinesHoldEveryTrialWithItsSamples) {
    const Recorded all = recorded();
    std::istringstream in(to_json_lines(all).text);
    std::string line;
    std::size_t count = 0;
    for (; std::getline(in, line); ++count) {
        const json trial = json::parse(line);
        const TrialRecord& stored = all.trials.at(count);
        EXPECT_EQ(trial.at("schema"), "vsockbench.trial/1");
        EXPECT_EQ(trial.at("experiment").at("uuid"), all.experiment.uuid);
        EXPECT_EQ(trial.at("pair"), stored.pair);
        EXPECT_EQ(trial.at("reason"), stored.reason);
        EXPECT_EQ(trial.at("measurements").size(), stored.measurements.size());
        for (std::size_t i = 0; i < stored.measurements.size(); ++i)
            EXPECT_EQ(trial["measurements"][i]["value"], stored.measurements[i].value);
        EXPECT_EQ(trial.at("samples").size(), stored.samples.size());
        if (!stored.samples.empty()) {
            EXPECT_EQ(trial["samples"][0]["values"], stored.samples[0].values);
        }
    }
    EXPECT_EQ(count, 11U);
    const json last = json::parse(
        line.empty() ? to_json_lines(all).text.substr(to_json_lines(all).text.rfind("\n{") + 1)
                     : line);
    EXPECT_EQ(last.at("status"), "failed");
    EXPECT_EQ(last.at("state").at("spec"), "policy=per-packet");
    EXPECT_EQ(last.at("workload").at("payload_bytes"), 4096);
}

// Exported state by state and read by our own reader, the pairs are as they were.
TEST(ExportTest, GoogleBenchmarkAndBenchfmtComeBackThroughTheirReaders) {
    const Recorded all = recorded();
    const auto back = [&](auto write, auto read) {
        std::vector<StateFile> files;
        for (const char* state : {"A", "B"}) {
            const Exported exported = write(state);
            files.push_back({state, read(exported.text, state)});
        }
        return pair_files(std::span(files).first(1), std::span(files).last(1), {"ABBA", ""});
    };
    const auto google = back([&](const char* state) { return to_google_benchmark(all, state); },
                             [](const std::string& text, const char* name) {
                                 return read_google_benchmark(text, name);
                             });
    ASSERT_EQ(google.experiment.workloads.size(), 2U);
    EXPECT_EQ(google.experiment.workloads[0].name, "fixed/64B");
    ASSERT_EQ(google.trials.size(), 10U);
    for (std::size_t i = 0; i < google.trials.size(); ++i) {
        const Measurement& headline = all.trials[i].measurements[0];
        const auto& measured = google.trials[i].measurements;
        EXPECT_EQ(google.trials[i].state_id, i % 4 == 0 || i % 4 == 3 ? 1 : 2);
        const double ns = headline.unit == "us" ? headline.value * 1e3 : 64 * 8 / headline.value;
        EXPECT_DOUBLE_EQ(measured[0].value, ns);
        const auto same = [&](const Measurement& each) {
            return each.metric == headline.metric && each.value == headline.value;
        };
        EXPECT_TRUE(std::ranges::any_of(measured, same)) << i;
    }
    const auto go =
        back([&](const char* state) { return to_benchfmt(all, state); },
             [](const std::string& text, const char* name) { return read_benchfmt(text, name); });
    ASSERT_EQ(go.trials.size(), 10U);
    EXPECT_EQ(go.experiment.workloads[0].name, "Fixed/64B");
    for (std::size_t i = 0; i < go.trials.size(); ++i) {
        EXPECT_EQ(go.trials[i].measurements[0].value, all.trials[i].measurements[0].value);
        EXPECT_EQ(go.trials[i].measurements[1].unit, i < 8 ? "recv_calls" : "retries");
    }
}

TEST(ExportTest, GoogleBenchmarkHasWhatItsOwnToolsAskFor) {
    const Recorded all = recorded();
    const Exported exported = to_google_benchmark(all, "");
    EXPECT_THAT(exported.left_out, ElementsAre("1 trials that are not ok"));
    const json document = json::parse(exported.text);
    EXPECT_EQ(document.at("context").at("vsockbench_experiment"), all.experiment.uuid);
    const json& first = document.at("benchmarks").at(0);
    for (const char* key : {"name", "run_name", "run_type", "repetitions", "repetition_index",
                            "threads", "iterations", "real_time", "cpu_time", "time_unit"}) {
        EXPECT_TRUE(first.contains(key)) << key;
    }
    EXPECT_EQ(first["name"], "A/fixed/64B");
    EXPECT_EQ(first["repetitions"], 4);
    EXPECT_EQ(first["iterations"], 1048576);
    EXPECT_DOUBLE_EQ(first["bytes_per_second"], all.trials[0].measurements[0].value * 1e9 / 8);
    EXPECT_EQ(document["benchmarks"][9]["name"], "B/rtt/4K");
    EXPECT_EQ(document["benchmarks"][9]["time_unit"], "us");
    EXPECT_EQ(document["benchmarks"][9]["real_time"], 13.5);
    EXPECT_THROW(to_google_benchmark(all, "C"), std::invalid_argument);
}

TEST(ExportTest, BenchfmtNamesStatesForBenchstat) {
    const std::string text = to_benchfmt(recorded(), "").text;
    EXPECT_THAT(text, HasSubstr("Unit Gbit/s better=higher\nUnit recv_calls better=lower\n"));
    EXPECT_THAT(text, HasSubstr("state: A\nBenchmarkFixed/64B 1048576 1.01 Gbit/s 1048577 "
                                "recv_calls\nstate: B\nBenchmarkFixed/64B 1048576 2.01 Gbit/s"));
    EXPECT_THAT(text, HasSubstr("BenchmarkRtt/4K 10000 12.5 us 0 retries 11 rtt_p50-us\n"));
}

TEST(ExportTest, BmfHoldsMeansOfBothStates) {
    const Recorded all = recorded();
    const json document = json::parse(to_bmf(all, "").text);
    EXPECT_EQ(document.size(), 4U);
    for (const auto& [benchmark, measures] : document.items()) {
        ASSERT_TRUE(measures.is_object() && !measures.empty()) << benchmark;
        for (const auto& [measure, metric] : measures.items()) {
            ASSERT_LE(measure.size(), 64U);
            EXPECT_TRUE(metric.at("value").is_number());
            EXPECT_LE(metric.at("lower_value"), metric.at("value"));
            EXPECT_GE(metric.at("upper_value"), metric.at("value"));
        }
    }
    const json& a = document.at("A/fixed/64B").at("throughput (Gbit/s)");
    EXPECT_NEAR(a.at("value").get<double>(), std::pow(1.01 * 1.02 * 1.03 * 1.04, 0.25), 1e-12);
    EXPECT_EQ(a.at("lower_value"), 1.01);
    EXPECT_EQ(a.at("upper_value"), 1.04);
    EXPECT_EQ(document.at("B/rtt/4K").at("retries").at("value"), 0);
    EXPECT_EQ(json::parse(to_bmf(all, "B").text).begin().key(), "fixed/64B");
}

TEST(ExportTest, GithubActionBenchmarkHasOneDirectionAFile) {
    const Recorded all = recorded();
    const auto names = [&](Better better) {
        const Exported exported = to_github_action_benchmark(all, "", better);
        EXPECT_EQ(exported.left_out.size(), 1U);
        std::vector<std::string> found;
        for (const json& entry : json::parse(exported.text)) {
            EXPECT_TRUE(entry.at("unit").is_string() && entry.at("value").is_number() &&
                        entry.at("range").is_string() && entry.at("extra").is_string());
            found.push_back(entry.at("name"));
        }
        return found;
    };
    EXPECT_THAT(names(Better::higher),
                ElementsAre("A/fixed/64B throughput", "B/fixed/64B throughput"));
    EXPECT_THAT(names(Better::lower), ElementsAre("A/rtt/4K rtt_mean", "B/rtt/4K rtt_mean"));
}

// The parts of KCIDB's schema 4.5 that these objects use: required members, patterns, no others.
TEST(ExportTest, KcidbKeepsToItsSchema) {
    Recorded all = recorded();
    const auto check = [](const json& object, const std::set<std::string>& required,
                          const std::set<std::string>& allowed) {
        for (const std::string& key : required)
            EXPECT_TRUE(object.contains(key)) << key;
        for (const auto& [key, value] : object.items()) {
            EXPECT_TRUE(required.contains(key) || allowed.contains(key)) << key;
            EXPECT_FALSE(value.is_null()) << key;
        }
        EXPECT_TRUE(
            std::regex_match(object.at("id").get<std::string>(), std::regex("^[a-z0-9_]+:.*$")));
        EXPECT_EQ(object.at("origin"), "ci");
    };
    const json document = json::parse(to_kcidb(all, "ci").text);
    check(document.at("checkouts").at(0), {"id", "origin"}, {"git_commit_hash", "comment"});
    EXPECT_EQ(document["checkouts"][0]["comment"], "commit 8a599f0") << "no whole hash";
    std::set<std::string> builds;
    for (const json& build : document.at("builds")) {
        check(build, {"id", "origin", "checkout_id"}, {"comment"});
        EXPECT_EQ(build["checkout_id"], document["checkouts"][0]["id"]);
        builds.insert(build["id"]);
    }
    EXPECT_EQ(builds.size(), 2U);
    std::set<std::string> ids;
    for (const json& test : document.at("tests")) {
        check(test, {"id", "origin", "build_id"},
              {"path", "comment", "status", "number", "start_time", "duration", "log_excerpt",
               "misc"});
        EXPECT_TRUE(ids.insert(test["id"]).second);
        EXPECT_TRUE(builds.contains(test["build_id"]));
        EXPECT_TRUE(
            std::regex_match(test["path"].get<std::string>(), std::regex("^[.a-zA-Z0-9_-]*$")));
        EXPECT_TRUE(test["status"] == "DONE" || test["status"] == "ERROR");
    }
    EXPECT_EQ(document.at("version"), (json{{"major", 4}, {"minor", 5}}));
    const json& first = document["tests"][0];
    EXPECT_EQ(first["path"], "vsockbench.fixed.64B.throughput");
    EXPECT_EQ(first["number"]["unit"], "Gbit/s");
    const json& error = document["tests"].back();
    EXPECT_EQ(error["status"], "ERROR");
    EXPECT_EQ(error["log_excerpt"], "bytes differ");
    all.experiment.project_commit = std::string(40, 'a');
    EXPECT_EQ(json::parse(to_kcidb(all, "ci").text)["checkouts"][0]["git_commit_hash"],
              std::string(40, 'a'));
    for (const char* origin : {"", "CI", "a b", "a:b"})
        EXPECT_THROW(to_kcidb(all, origin), std::invalid_argument) << origin;
}

TEST(ExportTest, HostileNamesStayText) {
    Recorded all = recorded();
    all.experiment.workloads[0].name = "x\"}\n\xff/64 B";
    for (PairedSeries& series : all.series) {
        if (series.workload == "fixed/64B") series.workload = all.experiment.workloads[0].name;
    }
    for (const std::string& text :
         {to_json_lines(all).text.substr(0, to_json_lines(all).text.find('\n')),
          to_google_benchmark(all, "").text, to_bmf(all, "").text, to_kcidb(all, "ci").text}) {
        EXPECT_TRUE(json::accept(text)) << text.substr(0, 200);
    }
    EXPECT_THAT(to_benchfmt(all, "").text, HasSubstr("BenchmarkX\"}_\xff/64_B 1048576 "));
    EXPECT_THROW(to_pairs_csv(all), std::invalid_argument);
}

}  // namespace
}  // namespace vsb::datasets
