// The virtual clock as a user meets it: one seed, one result; labelled wherever it is shown; never
// in one place with what was measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "harness/cli/failure.h"
#include "harness/cli/program.h"
#include "harness/scratch_folder.h"

namespace vsb::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ModelRun : public testing::Test {
  protected:
    std::string db() const { return folder_.file("runs.db").string(); }

    Finished program(std::vector<std::string> arguments) {
        arguments.insert(arguments.end(), {"--db", db()});
        return run_program(arguments);
    }

    // `more`: options and their values; what it names overrules what stands here.
    Finished run(const std::vector<std::string>& more, const std::string& clock = "virtual") {
        std::map<std::string, std::string> options{
            {"--clock", clock},       {"--seed", "7"},         {"--pairs", "4"},
            {"--name", "model test"}, {"--payloads", "64,4K"}, {"--bytes-scale", "0.002"},
            {"--format", "text"}};
        for (std::size_t i = 0; i + 1 < more.size(); i += 2)
            options[more[i]] = more[i + 1];
        std::vector<std::string> arguments{"run", "--quiet"};
        for (const auto& [name, value] : options)
            arguments.insert(arguments.end(), {name, value});
        return program(std::move(arguments));
    }

    // What a run figured out, without when and under which number.
    json figures(const std::vector<std::string>& more) {
        std::vector<std::string> arguments{"--format", "json"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Finished finished = run(arguments);
        EXPECT_EQ(finished.exit_code, kDone) << finished.err;
        const json document = json::parse(finished.out);
        EXPECT_EQ(document["model"], true);
        return {{"rows", document["rows"]},
                {"means", document["means"]},
                {"environment", document["record"]["environment"]}};
    }

    harness::ScratchFolder folder_;
};

TEST_F(ModelRun, OneSeedGivesOneResultToTheLastDigitAlsoUnderLoad) {
    const json quiet = figures({});
    EXPECT_EQ(figures({}), quiet);
    std::atomic<bool> over{false};
    json busy;
    {
        std::vector<std::jthread> load;
        for (int i = 0; i < 2; ++i)
            load.emplace_back([&] {
                while (!over) {
                }
            });
        busy = figures({});
        over = true;
    }
    EXPECT_EQ(busy, quiet);
    EXPECT_NE(figures({"--seed", "8"})["rows"], quiet["rows"]);
    EXPECT_NE(figures({"--costs", "wake=0"})["rows"], quiet["rows"]);
    EXPECT_NE(figures({"--vcpus", "1"})["rows"], quiet["rows"]);
    EXPECT_NE(figures({"--jitter", "0"})["rows"], quiet["rows"]);
}

TEST_F(ModelRun, IsLabelledWhereverItIsShown) {
    ASSERT_EQ(run({"--workload", "fixed"}).exit_code, kDone);
    const auto report = [&](const std::string& format) {
        const Finished finished = program({"report", "last", "--format", format});
        EXPECT_EQ(finished.exit_code, kDone) << finished.err;
        return finished.out;
    };
    const std::string text = program({"compare", "last"}).out;
    EXPECT_THAT(text, StartsWith("MODEL: model test: change of B against A"));
    EXPECT_THAT(text, HasSubstr("\nMODEL: fixed: throughput (Gbit/s)"));
    EXPECT_THAT(text, HasSubstr("a model, not a measurement"));
    const std::string letter = report("cover-letter");
    EXPECT_THAT(letter, StartsWith("Performance:\n\nMODEL: nothing here was measured."));
    EXPECT_THAT(letter, HasSubstr("\nMODEL: End-to-end RX throughput"));
    EXPECT_THAT(letter, HasSubstr("2 virtual CPUs"));
    EXPECT_THAT(letter, HasSubstr("built-in round figures"));
    EXPECT_THAT(letter, HasSubstr("wake=6000"));
    const std::string markdown = report("markdown");
    EXPECT_THAT(markdown, StartsWith("## MODEL: model test"));
    EXPECT_THAT(markdown, HasSubstr("### MODEL: fixed: throughput"));
    const std::string page = report("html");
    EXPECT_THAT(page, HasSubstr("<title>MODEL: model test</title>"));
    EXPECT_THAT(page, HasSubstr("<h1>MODEL: model test</h1>"));
    EXPECT_THAT(page, HasSubstr("<h2>MODEL: fixed: throughput"));
    EXPECT_THAT(report("ktap"), HasSubstr("# a model, not a measurement"));
    EXPECT_THAT(report("junit"), HasSubstr("a model, not a measurement"));
    const json document = json::parse(report("json"));
    EXPECT_EQ(document["model"], true);
    EXPECT_EQ(document["record"]["target"], "model");
    const std::string csv = report("csv");
    std::size_t lines = 0;
    for (std::size_t at = csv.find('\n') + 1; at < csv.size(); at = csv.find('\n', at) + 1, ++lines)
        EXPECT_THAT(csv.substr(at, csv.find('\n', at) - at), HasSubstr(",model"));
    EXPECT_GT(lines, 2U);

    EXPECT_THAT(program({"list"}).out, HasSubstr(" model "));
    EXPECT_THAT(program({"show", "last"}).out, HasSubstr("target      model\n"));
    EXPECT_EQ(json::parse(program({"show", "last", "--json"}).out)["target"], "model");
    for (const char* format : {"csv", "jsonl", "google-benchmark", "benchfmt", "bmf",
                               "github-action-benchmark", "kcidb"}) {
        const Finished finished = program({"export", "last", "--format", format});
        EXPECT_EQ(finished.exit_code, kDone) << format << finished.err;
        EXPECT_THAT(finished.out, HasSubstr("odel/")) << format;
        EXPECT_THAT(finished.out, Not(HasSubstr("\nfixed/"))) << format;
        EXPECT_THAT(finished.out, Not(HasSubstr("\"fixed/"))) << format;
    }
}

TEST_F(ModelRun, IsNeverMixedWithAMeasurement) {
    ASSERT_EQ(run({"--workload", "fixed"}, "wall").exit_code, kDone);
    const json measured = json::parse(program({"compare", "last", "--json"}).out);
    EXPECT_EQ(measured["model"], false);
    EXPECT_EQ(measured["record"]["target"], "engine");
    EXPECT_THAT(program({"compare", "last"}).out, Not(HasSubstr("MODEL")));
    ASSERT_EQ(run({"--workload", "fixed"}).exit_code, kDone);
    const Finished history = program({"history", "model test"});
    EXPECT_EQ(history.exit_code, kDone) << history.err;
    EXPECT_THAT(history.out, StartsWith("MODEL: model test"));
    EXPECT_THAT(history.out, HasSubstr("left out: experiment 1 of "));
    EXPECT_THAT(history.out, HasSubstr("target engine, the newest's is model"));
    EXPECT_THAT(program({"history", "model test", "--format", "csv"}).out,
                HasSubstr("\nmodel/fixed/64B,"));
    EXPECT_THAT(program({"history", "model test", "--format", "html"}).out,
                HasSubstr("<h1>MODEL: model test: history</h1>"));
    const Finished letter = program({"report", "1", "2", "--states", "baseline:P,baseline:P"});
    EXPECT_EQ(letter.exit_code, kUsage);
    EXPECT_THAT(letter.err, HasSubstr("a model and a measurement do not go into one letter"));
}

TEST_F(ModelRun, IsSweptAndEveryFormOfTheCurveSaysSo) {
    const auto sweep = [&](const std::string& format, const std::string& seed) {
        const Finished finished = program({"sweep",         "virtio-vsock-rx",
                                           "--over",        "max-pkts=1,16",
                                           "--clock",       "virtual",
                                           "--vcpus",       "3",
                                           "--jitter",      "1%",
                                           "--costs",       "wake=5000",
                                           "--seed",        seed,
                                           "--pairs",       "2",
                                           "--bytes-scale", "0.002",
                                           "--quiet",       "--format",
                                           format});
        EXPECT_EQ(finished.exit_code, kDone) << finished.err;
        return finished.out;
    };
    json first = json::parse(sweep("json", "7"));
    EXPECT_EQ(first["model"], true);
    json second = json::parse(sweep("json", "7"));
    EXPECT_EQ(first["points"], second["points"]);
    EXPECT_NE(json::parse(sweep("json", "8"))["points"], first["points"]);
    const std::string text = sweep("text", "7");
    EXPECT_THAT(text, StartsWith("MODEL: sweep of virtio-vsock-rx: change of B against A"));
    EXPECT_THAT(text, HasSubstr("\nMODEL: fixed, 256B: throughput"));
    EXPECT_THAT(sweep("csv", "7"), HasSubstr("\nmodel/fixed,throughput,"));
    EXPECT_THAT(sweep("html", "7"), HasSubstr("<title>MODEL: sweep of virtio-vsock-rx</title>"));
    const auto environment = json::parse(program({"show", "last", "--json"}).out)["environment"];
    EXPECT_EQ(environment["model.cpus"], "3");
    EXPECT_THAT(environment["model.costs_ns"].get<std::string>(), HasSubstr("wake=5000"));
    EXPECT_THAT(
        program({"sweep", "virtio-vsock-rx", "--over", "max-pkts=1,16", "--vcpus", "3"}).err,
        HasSubstr("add clock = virtual"));
}

TEST_F(ModelRun, HasFlowsAndCpusThatTheMachineHasNot) {
    const Finished finished =
        run({"--workload", "fixed", "--vcpus", "64", "--payloads", "64", "--bytes-scale", "0.004",
             "--pairs", "2", "--cpus", "worker=63", "--a", "policy=per-packet,flows=1024", "--b",
             "policy=deferred-notify,flows=1024", "--format", "json"});
    ASSERT_EQ(finished.exit_code, kDone) << finished.err;
    const json record = json::parse(finished.out)["record"];
    EXPECT_EQ(record["environment"]["cpu.worker"], "63");
    EXPECT_EQ(record["environment"]["model.cpus"], "64");
}

TEST_F(ModelRun, RefusesWhatItCannotBe) {
    const auto refusal = [&](const std::vector<std::string>& more,
                             const std::string& clock = "virtual") {
        const Finished finished = run(more, clock);
        EXPECT_EQ(finished.exit_code, kUsage) << finished.err;
        return finished.err;
    };
    EXPECT_THAT(refusal({"--target", "host"}), HasSubstr("target host has no virtual clock"));
    EXPECT_THAT(refusal({"--workload", "cycles"}), HasSubstr("the virtual clock runs on none"));
    EXPECT_THAT(refusal({"--vcpus", "65"}), HasSubstr("--vcpus: '65' is not within 1..64"));
    EXPECT_THAT(refusal({"--jitter", "101%"}), HasSubstr("--jitter: "));
    EXPECT_THAT(refusal({"--cpus", "worker=2"}), HasSubstr("worker=2, but the virtual machine's"));
    EXPECT_THAT(refusal({"--costs", "wakes=1"}), HasSubstr("--costs: there is no cost 'wakes'"));
    EXPECT_THAT(refusal({"--costs", "nowhere.toml"}), HasSubstr("vsockbench calibrate -o FILE"));
    EXPECT_THAT(refusal({}, "sundial"),
                HasSubstr("--clock: 'sundial' is not one of wall, virtual, exact"));
    EXPECT_THAT(refusal({}, "exact"), HasSubstr("target engine has no exact clock"));
    EXPECT_THAT(refusal({"--b", "policy=lock-batch,flows=65"}, "wall"),
                HasSubstr("need the virtual clock"));
    EXPECT_THAT(refusal({"--b", "policy=lock-batch,flows=1025"}),
                HasSubstr("allowed are 1 to 1024"));
    EXPECT_THAT(run_program({"run", "--vcpus", "2", "--db", db()}).err,
                HasSubstr("add clock = virtual"));
}

TEST_F(ModelRun, ResumesWithTheCostsItBeganWith) {
    const std::string costs = folder_.write("machine.toml", "[costs]\nwake = 1\n").string();
    const json whole = figures({"--costs", costs, "--workload", "fixed"});
    folder_.write("machine.toml", "[costs]\nwake = 9999\n");
    const Finished again = program({"run", "--resume", "last", "--json", "--quiet"});
    EXPECT_EQ(again.exit_code, kDone) << again.err;
    EXPECT_EQ(json::parse(again.out)["record"]["environment"]["model.costs_ns"],
              whole["environment"]["model.costs_ns"]);
    EXPECT_THAT(whole["environment"]["model.costs_ns"].get<std::string>(), HasSubstr("wake=1,"));
}

TEST(CalibrateHost, WritesAPriceListThatARunTakes) {
    const harness::ScratchFolder folder;
    const std::string file = folder.file("machine.toml").string();
    const Finished finished = run_program({"calibrate", "-o", file});
    ASSERT_EQ(finished.exit_code, kDone) << finished.err;
    EXPECT_THAT(finished.out, HasSubstr("96% interval"));
    EXPECT_THAT(finished.out, HasSubstr("wake_latency"));
    const Finished run =
        run_program({"run", "--clock", "virtual", "--costs", file, "--payloads", "64", "--workload",
                     "fixed", "--bytes-scale", "0.001", "--pairs", "2", "--json", "--quiet", "--db",
                     folder.file("runs.db").string()});
    ASSERT_EQ(run.exit_code, kDone) << run.err;
    const json environment = json::parse(run.out)["record"]["environment"];
    EXPECT_THAT(environment["model.costs_from"].get<std::string>(), StartsWith("calibrated 20"));
    EXPECT_FALSE(environment.contains("warning.model-costs"));
    EXPECT_EQ(run_program({"calibrate", "--cpus", "0"}).exit_code, kUsage);
    EXPECT_EQ(run_program({"calibrate", "--cpus", "0,99999"}).exit_code, kUsage);
    EXPECT_EQ(run_program({"calibrate", "--format", "yaml"}).exit_code, kUsage);
}

}  // namespace
}  // namespace vsb::cli
