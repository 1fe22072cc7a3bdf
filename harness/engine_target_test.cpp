#include "harness/engine_target.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "harness/cpus.h"
#include "harness/engine_state.h"
#include "harness/experiment_toml.h"
#include "harness/presets.h"
#include "harness/settings.h"
#include "receivers/perf/counters.h"

namespace vsb::harness {
namespace {

Experiment engine_experiment() {
    Settings settings;
    settings.seed = 3;
    settings.payloads = {256};
    settings.workload = {Kind::fixed, Kind::matched, Kind::rtt, Kind::cycles};
    find_key("bytes_scale")->set(settings, "all=0.001,rtt=0.01");
    Experiment experiment = make_experiment(settings);
    experiment.cpus = with_defaults({}, allowed_cpus());
    return experiment;
}

TrialRequest request_of(const Experiment& experiment, Kind kind, std::size_t state) {
    TrialRequest request;
    for (const Workload& workload : workloads_of(experiment)) {
        if (workload.kind == kind) request.workload = workload;
    }
    request.state = state;
    request.timeout_ns = experiment.timeout_ns;
    return request;
}

double value_of(const TrialResult& result, const std::string& metric) {
    for (const auto& m : result.measurements) {
        if (m.metric == metric) return m.value;
    }
    ADD_FAILURE() << "no " << metric;
    return -1;
}

TEST(EngineTarget, ThroughputIsAFigureWithItsCounts) {
    const Experiment experiment = engine_experiment();
    const auto target = make_engine_target(experiment);
    for (const std::size_t state : {0U, 1U}) {
        target->prepare(state);
        for (const Kind kind : {Kind::fixed, Kind::matched}) {
            const TrialResult result = target->run(request_of(experiment, kind, state));
            ASSERT_EQ(result.failure, "");
            EXPECT_EQ(result.measurements[0].metric, "throughput");
            EXPECT_EQ(result.measurements[0].unit, "Gbit/s");
            EXPECT_GT(result.measurements[0].value, 0);
            EXPECT_EQ(result.measurements[1].metric, "recv_calls");
            EXPECT_EQ(value_of(result, "bytes_sent"), 1048.0 * 256);
            EXPECT_EQ(value_of(result, "bytes_received"), 1048.0 * 256);
            std::set<std::string> names;
            for (const auto& m : result.measurements) {
                EXPECT_TRUE(names.insert(m.metric).second) << m.metric << " twice";
            }
            EXPECT_GT(value_of(result, "lock_acquisitions"), 0);
            // One recv() a write and one that sees the end: nothing merges at 256 B.
            if (kind == Kind::matched) {
                EXPECT_EQ(value_of(result, "recv_calls"), 1049);
            }
        }
    }
    target->stop();
}

TEST(EngineTarget, RttKeepsEverySample) {
    const Experiment experiment = engine_experiment();
    const auto target = make_engine_target(experiment);
    const TrialResult result = target->run(request_of(experiment, Kind::rtt, 0));
    ASSERT_EQ(result.failure, "");
    EXPECT_EQ(result.measurements[0].metric, "rtt_mean");
    EXPECT_EQ(result.measurements[0].unit, "us");
    ASSERT_EQ(result.samples.size(), 1U);
    EXPECT_EQ(result.samples[0].metric, "rtt");
    EXPECT_EQ(result.samples[0].values.size(), 100U);
}

TEST(EngineTarget, CyclesAreCountedOrTheTrialFailsWithTheReason) {
    const Experiment experiment = engine_experiment();
    const auto target = make_engine_target(experiment);
    const TrialResult result = target->run(request_of(experiment, Kind::cycles, 0));
    if (perf::unavailable_reason()) {
        EXPECT_NE(result.failure.find("no cycles were counted: "), std::string::npos)
            << result.failure;
        EXPECT_TRUE(result.measurements.empty());
    } else {
        ASSERT_EQ(result.failure, "");
        EXPECT_EQ(result.measurements[0].metric, "cycles_per_byte");
        EXPECT_GT(result.measurements[0].value, 0);
    }
}

TEST(EngineTarget, AStopEndsTheTrialWithoutFigures) {
    Experiment experiment = engine_experiment();
    experiment.bytes_scale = {};
    const auto target = make_engine_target(experiment);
    TrialRequest request = request_of(experiment, Kind::fixed, 0);
    request.stop = [] { return true; };
    const TrialResult result = target->run(request);
    EXPECT_NE(result.failure, "");
    EXPECT_TRUE(result.measurements.empty());
}

TEST(EngineTarget, ATimeoutIsAFailure) {
    Experiment experiment = engine_experiment();
    experiment.bytes_scale = {};
    const auto target = make_engine_target(experiment);
    TrialRequest request = request_of(experiment, Kind::fixed, 0);
    request.workload.writes *= 1000;
    request.timeout_ns = 1'000'000;
    const TrialResult result = target->run(request);
    EXPECT_NE(result.failure, "");
    EXPECT_TRUE(result.measurements.empty());
}

TEST(EngineTarget, DescribesItself) {
    Experiment experiment = engine_experiment();
    experiment.cpus = parse_cpu_placement("receiver=0,worker=0");
    auto facts = make_engine_target(experiment)->describe();
    EXPECT_EQ(facts.at("cpu.receiver"), "0");
    EXPECT_EQ(facts.at("cpu.worker"), "0");
    EXPECT_EQ(facts.at("cpu.device"), "");
    EXPECT_NE(facts.at("topology").find("virtio-vsock-rx"), std::string::npos);
}

TEST(EngineTarget, BadStatesAreRefusedBeforeAnythingRuns) {
    const auto refuses = [](const char* a) {
        Experiment experiment = engine_experiment();
        experiment.a = a;
        EXPECT_THROW(make_engine_target(experiment), std::invalid_argument) << a;
    };
    for (const char* bad : {"policy=warp", "system=warp", "max-pkts=64K,max-pkts=1", "lock-batch",
                            "policy=lock-batch,max-pkts=many", "policy=lock-batch,max-pkt=1",
                            "policy=lock-batch,max-pkts=0"}) {
        refuses(bad);
    }
    Experiment experiment = engine_experiment();
    experiment.cpus.sender = 0;
    EXPECT_THROW(make_engine_target(experiment), std::invalid_argument);
}

Experiment axis_experiment(const char* a, const char* b, const char* over) {
    Settings settings;
    settings.seed = 3;
    for (const auto& [key, text] : {std::pair{"a", a},
                                    {"b", b},
                                    {"over", over},
                                    {"payloads", "256"},
                                    {"workload", "fixed"},
                                    {"bytes_scale", "0.001"}}) {
        find_key(key)->set(settings, text);
    }
    Experiment experiment = make_experiment(settings);
    experiment.cpus = with_defaults({}, allowed_cpus());
    return experiment;
}

TEST(EngineTarget, APointReachesTheStatesThatDoNotSetItThemselves) {
    // One lock for each packet of A; for B as many as its bound says. The credit takes all.
    const Experiment experiment =
        axis_experiment("policy=lock-batch,max-pkts=1,buf-alloc=4M",
                        "policy=lock-batch,buf-alloc=4M", "max-pkts=4,32");
    const auto target = make_engine_target(experiment);
    for (const Workload& workload : workloads_of(experiment)) {
        for (const std::size_t state : {0U, 1U}) {
            TrialRequest request;
            request.workload = workload;
            request.state = state;
            request.timeout_ns = experiment.timeout_ns;
            const TrialResult result = target->run(request);
            ASSERT_EQ(result.failure, "");
            const double batch = state == 0 ? 1 : workload.point[0].second == "4" ? 4 : 32;
            EXPECT_NEAR(value_of(result, "batches"), 1048 / batch, 1) << workload.name << state;
        }
    }
}

TEST(EngineTarget, EveryPresetIsSomethingItCanRun) {
    for (const Preset& preset : presets()) {
        Settings settings = parse_settings_toml(preset.toml, std::string(preset.name));
        settings.seed = 1;
        Experiment experiment = make_experiment(settings);
        if (experiment.target != "engine") continue;
        experiment.cpus = with_defaults({}, allowed_cpus());
        EXPECT_NO_THROW(make_engine_target(experiment)) << preset.name;
    }
}

TEST(EngineTarget, WhatCannotBeMeasuredIsRefusedBeforeAnythingRuns) {
    const auto why = [](const char* a, const char* b, const char* over, const char* kind) {
        Experiment experiment = axis_experiment(a, b, over);
        experiment.kinds = {parse_kind(kind)};
        try {
            make_engine_target(experiment);
        } catch (const std::invalid_argument& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    EXPECT_EQ(why("", "", "max-pkts=1,2", "fixed"), "accepted");
    EXPECT_NE(why("", "", "max-packets=1,2", "fixed").find("there is no parameter 'max-packets'"),
              std::string::npos);
    EXPECT_NE(why("", "", "max-pkts=1,1M", "fixed").find("1 to 32768"), std::string::npos);
    EXPECT_NE(why("max-pkts=1", "max-pkts=2", "max-pkts=1,2", "fixed").find("nothing would vary"),
              std::string::npos);
    EXPECT_NE(why("", "", "flows=1,2", "rtt").find("rtt needs flows=1"), std::string::npos);
    EXPECT_NE(why("system=vhost-net-rx", "system=vhost-net-rx", "batch=1,4", "rtt")
                  .find("measures throughput only"),
              std::string::npos);
}

TEST(EngineState, TheRingAndTheByteBoundGrowWithThePacketBound) {
    const auto parameters = [](const char* spec, const Point& point) {
        std::string text;
        for (const auto& [name, value] : engine_state_at(spec, false, point).parameters)
            text += name + "=" + std::to_string(value) + " ";
        return text;
    };
    EXPECT_EQ(parameters("", {{"max-pkts", "16"}}), "max-pkts=16 ");
    EXPECT_EQ(parameters("", {{"max-pkts", "200"}}),
              "max-pkts=200 ring-size=512 max-bytes=819200 ");
    EXPECT_EQ(parameters("ring-size=64,max-bytes=1K", {{"max-pkts", "200"}}),
              "ring-size=64 max-bytes=1024 max-pkts=200 ");
    // A state that has a bound of its own shares the ring all the same.
    EXPECT_EQ(parameters("max-pkts=8", {{"max-pkts", "200"}}), "max-pkts=8 ring-size=512 ");
    EXPECT_EQ(parameters("", {{"max-pkts", "200"}, {"ring-size", "256"}}),
              "max-pkts=200 ring-size=256 max-bytes=819200 ");
    EXPECT_EQ(grown_bounds_text("", false, {{"max-pkts", {"1", "16", "32", "1K"}}}),
              "max-pkts=32: max-bytes=128K; max-pkts=1K: ring-size=2048, max-bytes=4M");
    EXPECT_EQ(grown_bounds_text("", false, {{"max-pkts", {"1", "16"}}}), "");
    const auto facts = make_engine_target(axis_experiment("", "", "max-pkts=1,256"))->describe();
    EXPECT_NE(facts.at("warning.bounds-grow").find("max-pkts=256: ring-size=512, max-bytes=1M"),
              std::string::npos);
}

TEST(EngineState, SizesAndDefaults) {
    const engine::State state =
        parse_engine_state("policy=lock-batch,max-pkts=8,max-bytes=64K", true);
    EXPECT_EQ(state.system, "virtio-vsock-rx");
    EXPECT_EQ(state.policy, "lock-batch");
    ASSERT_EQ(state.parameters.size(), 2U);
    EXPECT_EQ(state.parameters[1], (std::pair<std::string, std::uint64_t>{"max-bytes", 65536}));
    EXPECT_EQ(parse_engine_state("", true).policy, "per-packet");
    EXPECT_EQ(parse_engine_state("", false).policy, "deferred-notify");
}

}  // namespace
}  // namespace vsb::harness
