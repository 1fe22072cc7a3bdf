#include "harness/engine_figures.h"

#include <gtest/gtest.h>

namespace vsb::harness {
namespace {

const Workload kFixed{"fixed/64B", Kind::fixed, 64, 65536, 1000};
const Workload kRtt{"rtt/64B", Kind::rtt, 64, 64, 3};
const Workload kCycles{"cycles/64B", Kind::cycles, 64, 65536, 1000};

engine::Outcome good_outcome() {
    engine::Outcome outcome;
    outcome.bytes_sent = 64000;
    outcome.bytes_received = 64000;
    outcome.first_to_last_ns = 512000;
    outcome.whole_ns = 2'000'000;
    outcome.device_ns = 500'000;
    outcome.counts = {{"packets", 1000}, {"recv_calls", 17}};
    outcome.batch_sizes = {0, 3, 0, 1};
    outcome.warnings = {{"too_few_cpus", "two threads on one CPU"}};
    return outcome;
}

TrialResult figures(const Workload& workload, const engine::Outcome& outcome,
                    const std::optional<perf::Counts>& counters = {}) {
    return engine_figures("virtio-vsock-rx", workload, outcome, counters);
}

void expect_failure(const TrialResult& result, const std::string& why) {
    EXPECT_EQ(result.failure, why);
    EXPECT_TRUE(result.measurements.empty());
    EXPECT_TRUE(result.samples.empty());
    EXPECT_EQ(result.warnings.size(), 1U);
}

TEST(EngineFigures, ThroughputIsBitsOfTheTimeFromFirstToLastByte) {
    const TrialResult result = figures(kFixed, good_outcome());
    EXPECT_EQ(result.failure, "");
    std::string text;
    for (const auto& m : result.measurements) {
        text += m.metric + "=" + std::to_string(m.value) + m.unit + " ";
    }
    EXPECT_EQ(text,
              "throughput=1.000000Gbit/s recv_calls=17.0000001 whole_time=2.000000ms "
              "device_time=0.500000ms bytes_sent=64000.000000B bytes_received=64000.000000B "
              "packets=1000.0000001 ");
    ASSERT_EQ(result.samples.size(), 1U);
    EXPECT_EQ(result.samples[0].metric, "batch_sizes");
    ASSERT_EQ(result.warnings.size(), 1U);
    EXPECT_EQ(result.warnings[0].code, "too-few-cpus");
}

TEST(EngineFigures, BytesThatDifferAreNeverAFigure) {
    for (const Workload& workload : {kFixed, kCycles}) {
        engine::Outcome outcome = good_outcome();
        outcome.bytes_received = 63999;
        perf::Counts counters;
        counters.cycles.value = 1;
        expect_failure(figures(workload, outcome, counters),
                       "bytes differ: planned 64000, sent 64000, received 63999");
        outcome.bytes_sent = 63999;
        expect_failure(figures(workload, outcome, counters),
                       "bytes differ: planned 64000, sent 63999, received 63999");
    }
}

TEST(EngineFigures, AFailureOrAClockThatStoodStillIsNeverAFigure) {
    engine::Outcome outcome = good_outcome();
    outcome.first_to_last_ns = 0;
    expect_failure(figures(kFixed, outcome),
                   "the clock did not advance between the first packet and the last byte");
    outcome = good_outcome();
    outcome.failure = "interrupted";
    outcome.rtt_ns = {1, 2, 3};
    for (const Workload& workload : {kFixed, kRtt, kCycles}) {
        expect_failure(figures(workload, outcome), "interrupted");
    }
}

TEST(EngineFigures, RoundTripsAreAllThereOrNoFigure) {
    engine::Outcome outcome = good_outcome();
    outcome.rtt_ns = {1000, 2000, 6000};
    outcome.clock_cost_ns = 25;
    const TrialResult result = figures(kRtt, outcome);
    EXPECT_EQ(result.failure, "");
    EXPECT_EQ(result.measurements.front().metric, "rtt_mean");
    EXPECT_EQ(result.measurements.front().value, 3);
    ASSERT_EQ(result.samples.size(), 1U);
    EXPECT_EQ(result.samples[0].values, outcome.rtt_ns);
    outcome.rtt_ns.pop_back();
    expect_failure(figures(kRtt, outcome), "planned 3 round trips, measured 2");
}

TEST(EngineFigures, CyclesThatWereNotCountedAreAReasonAndNotZero) {
    perf::Counts counters;
    counters.cycles.value = 128000;
    counters.instructions.reason = "multiplexed";
    const TrialResult result = figures(kCycles, good_outcome(), counters);
    EXPECT_EQ(result.failure, "");
    ASSERT_EQ(result.measurements.size(), 2U);
    EXPECT_EQ(result.measurements[0].metric, "cycles_per_byte");
    EXPECT_EQ(result.measurements[0].unit, "cycles/B");
    EXPECT_EQ(result.measurements[0].value, 2);
    EXPECT_EQ(result.measurements[1].metric, "bytes_received");
    counters.cycles = {std::nullopt, "not permitted"};
    expect_failure(figures(kCycles, good_outcome(), counters),
                   "no cycles were counted: not permitted");
    expect_failure(figures(kCycles, good_outcome()), "no cycles were counted: no worker ran");
}

TEST(EngineFigures, EverySystemHasItsHeadlineAndTheRatioThatExplainsIt) {
    struct Expected {
        const char* system;
        const char* count;
        const char* per;
        const char* headline;
        const char* unit;
        double value;
        const char* ratio;
    };
    for (const Expected& e : {Expected{"virtio-vsock-rx", "lock_acquisitions", "packets",
                                       "throughput", "Gbit/s", 1, "locks_per_packet"},
                              Expected{"vhost-vsock-used", "publications", "used_entries",
                                       "throughput", "Gbit/s", 1, "publications_per_packet"},
                              Expected{"vhost-net-rx", "consumer_locks", "packets_delivered",
                                       "packet_rate", "Mpps", 1.953125, "locks_per_packet"},
                              Expected{"dgram-sendmsg", "socket_locks", "datagrams_sent",
                                       "throughput", "MB/s", 125, "locks_per_packet"}}) {
        engine::Outcome outcome = good_outcome();
        outcome.units = 1000;
        outcome.counts = {{e.per, 1000}, {e.count, 250}};
        const TrialResult result = engine_figures(e.system, kFixed, outcome, {});
        ASSERT_EQ(result.failure, "") << e.system;
        EXPECT_EQ(result.measurements[0].metric, e.headline);
        EXPECT_EQ(result.measurements[0].unit, e.unit);
        EXPECT_DOUBLE_EQ(result.measurements[0].value, e.value) << e.system;
        EXPECT_EQ(result.measurements[1].metric, e.ratio) << e.system;
        EXPECT_EQ(result.measurements[1].value, 0.25);
    }
}

TEST(EngineFigures, PacketsThatDidNotReachTheSinkAreNeverAFigure) {
    for (const char* system : {"vhost-net-rx", "dgram-sendmsg"}) {
        engine::Outcome outcome = good_outcome();
        outcome.units = 999;
        expect_failure(engine_figures(system, kFixed, outcome, {}),
                       "planned 1000 packets, 999 reached the sink");
    }
}

TEST(EngineFigures, TheVhostWorkersCountersArePerGiB) {
    perf::Counts counters;
    counters.cycles.value = 128000;
    counters.instructions.value = 64000;
    const TrialResult result =
        engine_figures("vhost-vsock-used", kCycles, good_outcome(), counters);
    ASSERT_EQ(result.failure, "");
    EXPECT_EQ(result.measurements[0].metric, "cycles_per_gib");
    EXPECT_EQ(result.measurements[0].unit, "cycles/GiB");
    EXPECT_EQ(result.measurements[0].value, 2.0 * (1 << 30));
    EXPECT_EQ(result.measurements[1].metric, "instructions_per_gib");
    EXPECT_EQ(result.measurements[1].value, 1.0 * (1 << 30));
}

}  // namespace
}  // namespace vsb::harness
