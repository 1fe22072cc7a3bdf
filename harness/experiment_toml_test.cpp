#include "harness/experiment_toml.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <stdexcept>

#include "harness/presets.h"

namespace vsb::harness {
namespace {

std::string error_of(std::string_view text) {
    try {
        parse_settings_toml(text, "x.toml");
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "accepted";
}

TEST(ExperimentToml, ReadsEveryKey) {
    const Settings s = parse_settings_toml(R"(
        name = "night"
        target = "engine"
        a = "policy=per-packet"
        b = "policy=lock-batch,max-pkts=8"
        pairs = 4
        payloads = [64, "4K"]
        workload = "fixed,rtt"
        recv_size = "32K"
        bytes_scale = { all = 1, rtt = 0.5 }
        seed = 12
        fresh = "trial"
        cpus = { receiver = 0, worker = 1 }
        timeout = 2.5
    )",
                                           "x.toml");
    EXPECT_EQ(s.name, "night");
    EXPECT_EQ(s.b, "policy=lock-batch,max-pkts=8");
    EXPECT_EQ(s.pairs, 4);
    EXPECT_EQ(s.payloads, (std::vector<std::uint64_t>{64, 4096}));
    EXPECT_EQ(s.workload, (std::vector<Kind>{Kind::fixed, Kind::rtt}));
    EXPECT_EQ(s.recv_size, 32768U);
    EXPECT_EQ(s.bytes_scale, (BytesScale{1, {{"rtt", 0.5}}}));
    EXPECT_EQ(s.seed, 12U);
    EXPECT_EQ(s.fresh, Fresh::trial);
    EXPECT_EQ(cpu_placement_text(*s.cpus), "receiver=0,worker=1");
    EXPECT_EQ(s.timeout_ns, 2'500'000'000);
}

TEST(ExperimentToml, UnknownKeyNamesKeyAndLine) {
    EXPECT_TRUE(error_of("pairs = 4\npair = 5\n").starts_with("x.toml:2: key 'pair': unknown"));
    // A key of another letter case, a dash, a table: all unknown, none ignored.
    for (const char* bad : {"Pairs = 4", "recv-size = 1", "[run]\npairs = 4", "run.pairs = 4"}) {
        EXPECT_NE(error_of(bad).find("unknown"), std::string::npos) << bad;
    }
}

TEST(ExperimentToml, WrongTypesNameKeyAndLine) {
    EXPECT_EQ(error_of("\n\npairs = \"4\""), "x.toml:3: key 'pairs': must be a whole number");
    for (const char* bad : {"pairs = 4.0",
                            "pairs = true",
                            "pairs = [4]",
                            "pairs = 2026-01-01",
                            "seed = \"1\"",
                            "a = 5",
                            "a = [\"policy=x\"]",
                            "name = 1",
                            "payloads = 64",
                            "payloads = [64.0]",
                            "payloads = [[64]]",
                            "workload = 1",
                            "bytes_scale = true",
                            "bytes_scale = [1]",
                            "bytes_scale = { rtt = \"1\" }",
                            "cpus = 0",
                            "cpus = { worker = \"1\" }",
                            "timeout = false",
                            "fresh = 1",
                            "a.policy = \"x\""}) {
        EXPECT_NE(error_of(bad).find("must be"), std::string::npos) << bad << ": " << error_of(bad);
    }
}

TEST(ExperimentToml, BadValuesNameKeyAndLine) {
    EXPECT_EQ(error_of("pairs = -1"),
              "x.toml:1: key 'pairs': '-1' is not a whole number (digits only)");
    for (const char* bad :
         {"pairs = 0", "payloads = [\"64,256\"]", "seed = -1", "payloads = []", "payloads = [0]",
          "bytes_scale = nan", "bytes_scale = -1", "bytes_scale = { \"a,b\" = 1 }", "timeout = inf",
          "cpus = \"worker\"", "target = \"\""}) {
        EXPECT_TRUE(error_of(bad).starts_with("x.toml:1: key '")) << bad << ": " << error_of(bad);
    }
}

TEST(ExperimentToml, WhatIsNoTomlNamesTheLine) {
    for (const char* bad : {"pairs = ", "pairs = 4\npairs = 5", "pairs", "\"", "a = \"\xff\""}) {
        EXPECT_TRUE(error_of(bad).starts_with("x.toml:")) << bad << ": " << error_of(bad);
        EXPECT_EQ(error_of(bad).find('\n'), std::string::npos) << "more than one line";
    }
    EXPECT_TRUE(error_of("pairs = 4\npairs = 5").starts_with("x.toml:2: "));
}

TEST(ExperimentToml, ConfigurationReadsBack) {
    rc::check("experiment -> toml -> experiment", [] {
        Experiment e;
        e.name =
            *rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::inRange('\x01', '\x7f')));
        if (e.name.size() > 200) e.name.resize(200);
        e.target = *rc::gen::element<std::string>("engine", "host", "guest", "fake");
        e.a = *rc::gen::container<std::string>(rc::gen::inRange('\x01', '\x7f'));
        e.b = "kernel=\"x\\y\",cmdline=a\\,b\xc3\xa9";
        e.pairs = 2 * *rc::gen::inRange<std::int64_t>(1, 1000);
        e.payloads_bytes = {*rc::gen::inRange<std::uint64_t>(1, 1 << 20), 1 << 20};
        e.kinds = {Kind::cycles, Kind::fixed};
        e.recv_bytes = *rc::gen::inRange<std::uint64_t>(1, 1 << 20);
        e.bytes_scale.all = *rc::gen::inRange(1, 1000) / 997.0;
        if (*rc::gen::arbitrary<bool>()) e.bytes_scale.exceptions = {{"64B", 0.1}, {"rtt", 1e-3}};
        e.seed = *rc::gen::inRange<std::uint64_t>(0, kMaxSeed);
        e.fresh = *rc::gen::element(Fresh::trial, Fresh::state, Fresh::run);
        if (*rc::gen::arbitrary<bool>()) e.cpus.worker = *rc::gen::inRange(0, 65536);
        e.timeout_ns = *rc::gen::inRange<std::int64_t>(1, 86400) * 1'000'000'000;
        const bool has_parameters = e.target == "engine" || e.target == "fake";
        if (has_parameters && *rc::gen::arbitrary<bool>()) {
            e.over = {{"max-pkts", {"1", "64K"}}, {"flows", {"2"}}};
        }
        if (*rc::gen::arbitrary<bool>()) e.beside = "normal";
        RC_ASSERT(parse_experiment_toml(experiment_toml(e), "stored") == e);
    });
}

TEST(ExperimentToml, PresetsAreExperiments) {
    ASSERT_GE(presets().size(), 2U);
    for (const Preset& preset : presets()) {
        Settings settings = parse_settings_toml(preset.toml, std::string(preset.name));
        settings.seed = 1;
        const Experiment e = make_experiment(settings);
        EXPECT_EQ(e.name, preset.name);
        EXPECT_FALSE(preset.summary.empty());
        EXPECT_FALSE(workloads_of(e).empty());
    }
    ASSERT_NE(find_preset("demo"), nullptr);
    ASSERT_NE(find_preset("vsock-rx-v5"), nullptr);
    EXPECT_EQ(find_preset("nothing"), nullptr);
}

TEST(ExperimentToml, PresetsMoveWhatThePublishedTablesMoved) {
    const auto experiment = [](const char* name) {
        Settings settings = parse_settings_toml(find_preset(name)->toml, name);
        settings.seed = 1;
        return make_experiment(settings);
    };
    const Experiment used = experiment("vhost-vsock-used-v3");
    EXPECT_EQ(used.pairs, 20);
    EXPECT_EQ(used.beside, "normal");
    for (const Workload& workload : workloads_of(used)) {
        EXPECT_EQ(workload.writes * workload.payload_bytes, 1U << 30) << workload.name;
    }
    EXPECT_EQ(experiment("vhost-net-rx-v2").over,
              (std::vector<Axis>{{"batch", {"1", "4", "16", "64", "256"}}}));
    EXPECT_EQ(experiment("dgram-sendmsg-v4").over, (std::vector<Axis>{{"threads", {"1", "16"}}}));
    EXPECT_EQ(experiment("vsock-rx-v1").payloads_bytes,
              (std::vector<std::uint64_t>{256, 512, 1024, 4096}));
}

TEST(ExperimentToml, TheV5PresetIsThePublishedShape) {
    Settings settings = parse_settings_toml(find_preset("vsock-rx-v5")->toml, "v5");
    settings.seed = 1;
    const Experiment e = make_experiment(settings);
    EXPECT_EQ(e.pairs, 16);
    EXPECT_EQ(e.recv_bytes, 65536U);
    EXPECT_EQ(e.payloads_bytes.size(), 8U);
    EXPECT_EQ(e.kinds, (std::vector<Kind>{Kind::fixed, Kind::matched, Kind::rtt, Kind::cycles}));
    EXPECT_EQ(workloads_of(e).front().writes, 1048576U);
}

}  // namespace
}  // namespace vsb::harness
