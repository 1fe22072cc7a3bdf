#include "harness/experiment.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "harness/presets.h"
#include "harness/settings.h"

namespace vsb::harness {
namespace {

Settings seeded() {
    Settings settings;
    settings.seed = 7;
    return settings;
}

TEST(Experiment, APlannedNumberOfPairsHasItsOwnCeiling) {
    Settings settings;
    settings.seed = 1;
    settings.until_halfwidth = 0.01;
    EXPECT_EQ(make_experiment(settings).pairs, 200);
    settings.pairs = 31;
    EXPECT_EQ(make_experiment(settings).pairs, 32);
    settings.pairs = 18;
    EXPECT_THROW(make_experiment(settings), std::invalid_argument) << "less than the pilot";
    settings.until_halfwidth = 0.0;
    EXPECT_EQ(make_experiment(settings).pairs, 18);
}

TEST(Experiment, PublishedTransferRule) {
    EXPECT_EQ(writes_of(64, 1), 1048576U);
    EXPECT_EQ(writes_of(1024, 1), 1048576U);
    EXPECT_EQ(writes_of(4096, 1), 524288U);
    EXPECT_EQ(writes_of(65536, 1), 32768U);
    EXPECT_EQ(writes_of(64, 0.05), 52428U);
    EXPECT_EQ(writes_of(1 << 20, 0.0001), 1U);
    EXPECT_EQ(requests_of(1), 10000U);
    EXPECT_EQ(requests_of(0.05), 500U);
    EXPECT_EQ(requests_of(0.00001), 100U);
}

TEST(Experiment, DefaultsAreThePublishedShape) {
    const Experiment e = make_experiment(seeded());
    EXPECT_EQ(e.target, "engine");
    EXPECT_EQ(e.a, "policy=per-packet");
    EXPECT_EQ(e.b, "policy=deferred-notify");
    EXPECT_EQ(e.pairs, 16);
    const auto workloads = workloads_of(e);
    ASSERT_EQ(workloads.size(), 24U);
    EXPECT_EQ(workloads[0], (Workload{"fixed/64B", Kind::fixed, 64, 65536, 1048576}));
    EXPECT_EQ(workloads[12], (Workload{"matched/4K", Kind::matched, 4096, 4096, 524288}));
    EXPECT_EQ(workloads[23], (Workload{"rtt/64K", Kind::rtt, 65536, 65536, 10000}));
}

TEST(Experiment, OddPairsAreRoundedUp) {
    Settings settings = seeded();
    settings.pairs = 5;
    EXPECT_EQ(make_experiment(settings).pairs, 6);
}

TEST(Experiment, TheMostExactScaleDecides) {
    Settings settings = seeded();
    find_key("bytes_scale")->set(settings, "all=0.5,64=0.25,rtt=0.1,matched/64=0.125");
    find_key("payloads")->set(settings, "64,256B");
    const auto workloads = workloads_of(make_experiment(settings));
    ASSERT_EQ(workloads.size(), 6U);
    EXPECT_EQ(workloads[0].writes, 262144U);  // fixed/64B
    EXPECT_EQ(workloads[1].writes, 524288U);  // fixed/256B
    EXPECT_EQ(workloads[2].writes, 131072U);  // matched/64B
    EXPECT_EQ(workloads[4].writes, 1000U);    // rtt/64B: the kind comes before the payload
}

TEST(Experiment, ScalesInAnyOrderAreTheSameExperiment) {
    Settings one;
    Settings other;
    find_key("bytes_scale")->set(one, "rtt=0.1,64=0.25,all=1");
    find_key("bytes_scale")->set(other, "64B=0.25,rtt=0.1");
    EXPECT_EQ(*one.bytes_scale, *other.bytes_scale);
}

TEST(Experiment, StatesWithoutSpecAreTheSameElsewhere) {
    Settings settings = seeded();
    settings.target = "host";
    const Experiment e = make_experiment(settings);
    EXPECT_EQ(e.a, "");
    EXPECT_EQ(e.b, "");
}

TEST(Experiment, BadValuesAreRefused) {
    const auto refuses = [](const char* key, const char* text) {
        Settings settings;
        EXPECT_THROW(find_key(key)->set(settings, text), std::invalid_argument)
            << key << " = " << text;
    };
    refuses("name", "");
    refuses("name", "a\xff");
    refuses("target", "moon");
    for (const char* bad : {"0", "-1", "1.5", "100001", ""})
        refuses("pairs", bad);
    for (const char* bad : {"", "0", "64,64", "64,64B", "2M", "-64", "64KB", "1.5K", "64,"}) {
        refuses("payloads", bad);
    }
    for (const char* bad : {"", "fast", "fixed,fixed", "fixed,"})
        refuses("workload", bad);
    for (const char* bad : {"", "-1", "1G", "abc"})
        refuses("recv_size", bad);
    for (const char* bad : {"0", "-1", "nan", "inf", "1e999", "2000", "64=0", "x=1", "fixed/x=1",
                            "rtt=1,rtt=2", "64=1,64B=2"}) {
        refuses("bytes_scale", bad);
    }
    for (const char* bad : {"-1", "9223372036854775808", "x"})
        refuses("seed", bad);
    for (const char* bad : {"batch", "=1", "batch=", "batch=1,1", "batch=1024,1K", "Batch=1",
                            "a=1,b=1,c=1", "a=1,a=2", "payload=64", "a=x", "a=1,,2"}) {
        refuses("over", bad);
    }
    refuses("fresh", "never");
    refuses("timeout", "0");
}

TEST(Experiment, EveryKindAndPayloadRunsAtEveryPointOfTheAxes) {
    Settings settings = seeded();
    settings.payloads = {64, 4096};
    settings.workload = {Kind::fixed};
    find_key("over")->set(settings, "batch=1,16,threads=2,1K");
    find_key("bytes_scale")->set(settings, "all=1,fixed/4K=0.5");
    const auto workloads = workloads_of(make_experiment(settings));
    std::vector<std::string> names;
    for (const Workload& workload : workloads)
        names.push_back(workload.name);
    EXPECT_EQ(names, (std::vector<std::string>{
                         "fixed/64B/batch=1,threads=2", "fixed/64B/batch=1,threads=1K",
                         "fixed/64B/batch=16,threads=2", "fixed/64B/batch=16,threads=1K",
                         "fixed/4K/batch=1,threads=2", "fixed/4K/batch=1,threads=1K",
                         "fixed/4K/batch=16,threads=2", "fixed/4K/batch=16,threads=1K"}));
    EXPECT_EQ(workloads[1].point, (Point{{"batch", "1"}, {"threads", "1K"}}));
    // A factor names kind and payload: it holds at every point.
    EXPECT_EQ(workloads[7].writes, 1U << 18);
}

TEST(Experiment, AxesAreWithinReasonAndForTargetsThatHaveParameters) {
    Settings settings = seeded();
    find_key("over")->set(settings, "a=1,2");
    EXPECT_NO_THROW(make_experiment(settings));
    settings.target = "host";
    EXPECT_THROW(make_experiment(settings), std::invalid_argument);
    settings.target = "engine";
    std::string many = "a=1";
    for (int i = 2; i < 50; ++i)
        many += "," + std::to_string(i);
    find_key("over")->set(settings, many);  // 49 points, 8 payloads, 3 kinds
    EXPECT_THROW(make_experiment(settings), std::invalid_argument);
    Settings without_recv = seeded();
    without_recv.recv_size = 0;
    EXPECT_EQ(make_experiment(without_recv).recv_bytes, 0U);
    without_recv.target = "host";
    EXPECT_THROW(make_experiment(without_recv), std::invalid_argument);
}

TEST(Experiment, OptionsOverridePresets) {
    Settings preset;
    preset.pairs = 16;
    preset.a = "policy=per-packet";
    Settings given;
    given.pairs = 4;
    const Settings both = merged(preset, given);
    EXPECT_EQ(both.pairs, 4);
    EXPECT_EQ(both.a, "policy=per-packet");
    EXPECT_FALSE(both.b.has_value());
}

TEST(Experiment, ASeedIsNeeded) {
    EXPECT_THROW(make_experiment({}), std::invalid_argument);
}

}  // namespace
}  // namespace vsb::harness
