// The contract of engine/run.h, on real threads.

#include "engine/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <numeric>
#include <random>
#include <stdexcept>

#include "engine/sync/placement.h"
#include "engine/vsock/counters.h"

namespace vsb::engine {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kLong = 120'000'000'000;

std::map<std::string, std::uint64_t> counts_of(const Outcome& outcome) {
    std::map<std::string, std::uint64_t> counts;
    for (const Count& count : outcome.counts)
        counts[count.name] = count.value;
    return counts;
}

Workload throughput(std::uint64_t payload, std::uint64_t writes, std::uint64_t recv) {
    Workload w;
    w.payload_bytes = payload;
    w.writes = writes;
    w.recv_bytes = recv;
    return w;
}

std::vector<std::string> policies() {
    std::vector<std::string> names;
    for (const auto& policy : find_system("virtio-vsock-rx").policies)
        names.push_back(policy.name);
    return names;
}

TEST(Systems, AreListedWithTheirDefaults) {
    const SystemInfo& info = find_system("virtio-vsock-rx");
    EXPECT_EQ(policies(),
              (std::vector<std::string>{"per-packet", "lock-batch", "coalesce-write-space",
                                        "deferred-notify", "noop"}));
    EXPECT_EQ(info.default_a, "per-packet");
    EXPECT_EQ(info.default_b, "deferred-notify");
    EXPECT_FALSE(systems().empty());
}

TEST(Validate, NamesTheChoices) {
    const auto refusal = [](const State& state) -> std::string {
        try {
            validate(state);
        } catch (const std::invalid_argument& e) {
            return e.what();
        }
        return "accepted";
    };
    EXPECT_EQ(refusal({}), "accepted");
    EXPECT_THAT(refusal({"vsock", "per-packet", {}}), HasSubstr("there are virtio-vsock-rx"));
    EXPECT_THAT(refusal({"virtio-vsock-rx", "batch", {}}), HasSubstr("per-packet, lock-batch"));
    EXPECT_THAT(refusal({"virtio-vsock-rx", "noop", {{"x", 1}}}), HasSubstr("max-pkts"));
    EXPECT_THROW(run({"virtio-vsock-rx", "batch", {}}, {}, {}, kLong), std::invalid_argument);
    EXPECT_THROW(run({}, throughput(0, 1, 1), {}, kLong), std::invalid_argument);
    EXPECT_THROW(validate({}, throughput(0, 1, 1)), std::invalid_argument);
    EXPECT_THROW(validate({"virtio-vsock-rx", "noop", {{"flows", 2}}}), std::invalid_argument);
    EXPECT_THROW(validate({"virtio-vsock-rx", "per-packet", {{"flows", 4}}}, throughput(64, 3, 64)),
                 std::invalid_argument);
    EXPECT_NO_THROW(validate({}, throughput(64, 3, 64)));
}

TEST(Run, EveryPolicyDeliversEveryByteWithTheCountersInOneOrder) {
    std::vector<std::string> order;
    for (const auto& policy : policies()) {
        const Outcome o =
            run({"virtio-vsock-rx", policy, {}}, throughput(1024, 3000, 65536), {}, kLong);
        ASSERT_EQ(o.failure, "") << policy;
        EXPECT_EQ(o.bytes_sent, 3072000U);
        EXPECT_EQ(o.bytes_received, 3072000U);
        EXPECT_GT(o.first_to_last_ns, 0U);
        EXPECT_GT(o.whole_ns, 0U);
        EXPECT_GT(o.device_ns, 0U);
        EXPECT_TRUE(o.rtt_ns.empty());
        const auto counts = counts_of(o);
        EXPECT_EQ(counts.at("packets"), 3001U);
        EXPECT_EQ(counts.at("payload_bytes"), 3072000U);
        EXPECT_EQ(counts.at("used_publications"), 3001U);
        std::vector<std::string> names;
        for (const Count& count : o.counts)
            names.push_back(count.name);
        EXPECT_EQ(names.size(), counts.size()) << "a name appears twice";
        if (order.empty()) order = names;
        EXPECT_EQ(names, order);
    }
}

// Deterministic although threaded: the credit takes the whole transfer, so the ring is filled and
// drained 128 packets at a time whatever the receiver does.
TEST(Run, LocksPerPacketAreOneInSixtyFourForTheBatchPolicies) {
    for (const std::string policy : {"lock-batch", "coalesce-write-space", "deferred-notify"}) {
        const Outcome o = run({"virtio-vsock-rx", policy, {{"buf-alloc", 1 << 24}}},
                              throughput(256, 4096, 256), {}, kLong);
        ASSERT_EQ(o.failure, "");
        const auto counts = counts_of(o);
        EXPECT_EQ(counts.at("batches"), 64U) << policy;
        EXPECT_EQ(counts.at("batch_end_max_pkts"), 64U);
        EXPECT_EQ(counts.at("lock_acquisitions"), 65U);  // and the SHUTDOWN
        EXPECT_EQ(counts.at("connected_lookups"), 65U);
        EXPECT_EQ(o.batch_sizes.at(64), 64U);
        EXPECT_EQ(counts.at("recv_calls"), 4097U);
        EXPECT_EQ(counts.at("write_space_notifications"), policy == "lock-batch" ? 4097U : 65U);
        EXPECT_EQ(counts.at("data_ready_notifications") > 64, policy != "deferred-notify");
    }
    const Outcome o = run({"virtio-vsock-rx", "per-packet", {{"buf-alloc", 1 << 24}}},
                          throughput(256, 4096, 256), {}, kLong);
    EXPECT_EQ(counts_of(o).at("lock_acquisitions"), 4097U);
    EXPECT_EQ(counts_of(o).at("data_ready_notifications"), 4096U);
}

TEST(Run, MatchedRecvIsCalledOnceMoreThanThereAreWrites) {
    for (const auto& policy : policies()) {
        if (policy == "noop") continue;
        for (const std::uint64_t payload : {256ULL, 512ULL, 1024ULL}) {
            const Outcome o =
                run({"virtio-vsock-rx", policy, {}}, throughput(payload, 4096, payload), {}, kLong);
            ASSERT_EQ(o.failure, "") << policy;
            const auto counts = counts_of(o);
            EXPECT_EQ(counts.at("recv_calls"), 4097U) << policy << " " << payload;
            EXPECT_EQ(counts.at("merged_packets"), 0U);
        }
    }
}

// Deterministic for the same reason. Two flows take turns, so no ownership carries two packets: the
// packet that shows the change goes alone, the next one opens a batch.
TEST(Run, InterleavedFlowsBringTheMeanBatchFromSixtyFourToOne) {
    for (const std::string policy : {"lock-batch", "coalesce-write-space", "deferred-notify"}) {
        for (const std::uint64_t flows : {1, 2, 4, 16}) {
            const Outcome o =
                run({"virtio-vsock-rx", policy, {{"buf-alloc", 1 << 22}, {"flows", flows}}},
                    throughput(256, 4096, 65536), {}, kLong);
            ASSERT_EQ(o.failure, "") << policy << ", flows " << flows;
            EXPECT_EQ(o.bytes_received, 4096U * 256);
            const auto counts = counts_of(o);
            EXPECT_EQ(counts.at("packets"), 4096 + flows);  // and a SHUTDOWN each
            EXPECT_EQ(counts.at("batches"), flows == 1 ? 64U : 2048U);
            EXPECT_EQ(counts.at("batched_packets"), flows == 1 ? 4096U : 2048U);
            EXPECT_EQ(counts.at("batch_end_max_pkts"), flows == 1 ? 64U : 0U);
            EXPECT_EQ(counts.at("batch_end_flow_change"), flows == 1 ? 0U : 2048U);
            EXPECT_EQ(counts.at("lock_acquisitions"), flows == 1 ? 65U : 4096 + flows);
        }
    }
}

TEST(Run, FlowsAreCheckedByteByByteUnderEveryPolicyAndWithTheSmallestRing) {
    for (const auto& policy : policies()) {
        if (policy == "noop") continue;
        for (const std::uint64_t ring : {2, 128}) {
            const State state{
                "virtio-vsock-rx", policy, {{"flows", 16}, {"ring-size", ring}, {"rcvlowat", 100}}};
            const Outcome o = run(state, throughput(4096, 163, 5000), {}, kLong);
            ASSERT_EQ(o.failure, "") << policy;
            EXPECT_EQ(o.bytes_received, 163U * 4096);
            EXPECT_GE(counts_of(o).at("recv_calls"), 32U);  // data and the end of each stream
            EXPECT_GE(o.whole_ns, o.first_to_last_ns);
        }
    }
}

TEST(RunSlow, MatchedRecvAtTwoToTheTwentyWrites) {
    for (const std::string policy : {"per-packet", "deferred-notify"}) {
        const Outcome o =
            run({"virtio-vsock-rx", policy, {}}, throughput(256, 1 << 20, 256), {}, 10 * kLong);
        ASSERT_EQ(o.failure, "");
        EXPECT_EQ(counts_of(o).at("recv_calls"), (1U << 20) + 1);
        EXPECT_EQ(counts_of(o).at("merged_packets"), 0U);
    }
}

TEST(Run, NoopTouchesNoSocket) {
    const Outcome o = run({"virtio-vsock-rx", "noop", {}}, throughput(64, 10000, 65536), {}, kLong);
    ASSERT_EQ(o.failure, "");
    const auto counts = counts_of(o);
    EXPECT_EQ(counts.at("lock_acquisitions"), 1U);  // the SHUTDOWN
    EXPECT_EQ(counts.at("connected_lookups"), 2U);  // once, and the SHUTDOWN
    EXPECT_EQ(counts.at("data_ready_notifications"), 0U);
    EXPECT_EQ(counts.at("recv_calls"), 1U);
}

// A receiver that sleeps is woken at its mark: a lost wake-up is a hang, and a hang is a failure.
// Shapes and seeds at random, the device inside the worker and on a thread of its own.
class RunWakeups : public testing::TestWithParam<std::string> {};

void run_random_shapes(const std::string& policy, int shapes, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto pick = [&](std::vector<std::uint64_t> values) {
        return values[random() % values.size()];
    };
    for (int i = 0; i < shapes; ++i) {
        const std::uint64_t buf_alloc = pick({256, 3000, 65536, 262144});
        const std::uint64_t rcvlowat = pick({1, 1, 2, 77, 256});
        State state{"virtio-vsock-rx", policy, {}};
        state.parameters = {
            {"buf-alloc", buf_alloc},           {"rcvlowat", rcvlowat},
            {"max-pkts", pick({1, 2, 3, 64})},  {"max-bytes", pick({1, 300, 65536})},
            {"ring-size", pick({2, 4, 128})},   {"event-idx", random() % 2},
            {"rx-buf-bytes", pick({512, 4096})}};
        Workload w = throughput(pick({1, 63, 128, 300, 5000}), 1 + random() % 120,
                                std::max<std::uint64_t>(rcvlowat, pick({1, 64, 300, 65536})));
        w.seed = random();
        Placement placement;
        if (random() % 3 == 0) placement.device_cpu = allowed_cpus().front();
        if (rcvlowat == 1 && random() % 4 == 0) {
            w.kind = Kind::rtt;
            w.writes = 1 + random() % 10;
        }
        const Outcome o = run(state, w, placement, kLong);
        std::string shape = policy;
        for (const auto& [name, value] : state.parameters)
            shape += " " + name + "=" + std::to_string(value);
        ASSERT_EQ(o.failure, "") << shape << " payload " << w.payload_bytes << " writes "
                                 << w.writes << " recv " << w.recv_bytes << " rtt "
                                 << (w.kind == Kind::rtt);
    }
}

TEST_P(RunWakeups, NoneIsLost) {
    run_random_shapes(GetParam(), 40, 1);
}
class RunWakeupsSlow : public testing::TestWithParam<std::string> {};
TEST_P(RunWakeupsSlow, NoneIsLostInManySeeds) {
    for (std::uint64_t seed = 2; seed < 12; ++seed)
        run_random_shapes(GetParam(), 100, seed);
}

std::string policy_test_name(const testing::TestParamInfo<std::string>& p) {
    std::string name = p.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}
INSTANTIATE_TEST_SUITE_P(Policies, RunWakeups, testing::ValuesIn(policies()), policy_test_name);
INSTANTIATE_TEST_SUITE_P(Policies, RunWakeupsSlow, testing::ValuesIn(policies()), policy_test_name);

TEST(RunRtt, EveryRequestHasASampleAndWarmUpHasNone) {
    for (const auto& policy : policies()) {
        for (const std::uint64_t payload : {1ULL, 64ULL, 70000ULL, 1048576ULL}) {
            Workload w = throughput(payload, payload > 100000 ? 2 : 20, 65536);
            w.kind = Kind::rtt;
            w.warmup_requests = 3;
            const Outcome o = run({"virtio-vsock-rx", policy, {}}, w, {}, kLong);
            ASSERT_EQ(o.failure, "") << policy << " " << payload;
            EXPECT_EQ(o.rtt_ns.size(), w.writes);
            for (const auto sample : o.rtt_ns)
                EXPECT_GT(sample, 0U);
            EXPECT_LE(std::accumulate(o.rtt_ns.begin(), o.rtt_ns.end(), std::uint64_t{0}),
                      o.whole_ns + o.first_to_last_ns + kLong);
            EXPECT_GT(o.clock_cost_ns, 0U);
            EXPECT_EQ(o.bytes_received, payload * (w.writes + 3));
        }
    }
}

TEST(RunFailure, DeadlineIsAFailureWithoutFiguresAndSaysHowFarItCame) {
    Workload w = throughput(1, std::uint64_t{1} << 40, 1);
    const Outcome o = run({}, w, {}, 50'000'000);
    EXPECT_THAT(o.failure, HasSubstr("deadline exceeded"));
    EXPECT_THAT(o.failure, HasSubstr("had been sent"));
    EXPECT_EQ(o.first_to_last_ns, 0U);
    EXPECT_EQ(o.whole_ns, 0U);
    // A deadline long past, with sleeping threads.
    w.kind = Kind::rtt;
    w.writes = 1 << 20;
    EXPECT_THAT(run({}, w, {}, 1).failure, HasSubstr("deadline exceeded"));
}

TEST(RunFailure, StopIsAFailureAndExceptionsPassAfterTheThreadsEnded) {
    const Workload w = throughput(1, std::uint64_t{1} << 40, 1);
    int asked = 0;
    const Outcome o = run({}, w, {}, kLong, {}, [&] { return ++asked == 3; });
    EXPECT_EQ(o.failure, "interrupted");
    EXPECT_EQ(asked, 3);
    EXPECT_THROW(run({}, w, {}, kLong, {}, []() -> bool { throw std::runtime_error("x"); }),
                 std::runtime_error);
}

TEST(RunFailure, HookThatThrows) {
    Hooks hooks;
    hooks.receiver_starts = [](pid_t) { throw std::runtime_error("no counters"); };
    const Outcome o = run({}, throughput(64, 100, 64), {}, kLong, hooks);
    EXPECT_THAT(o.failure, HasSubstr("the receiver failed: no counters"));
}

TEST(RunFailure, RefusedCpu) {
    Placement placement;
    placement.worker_cpu = 1023;
    const Outcome o = run({}, throughput(64, 100, 64), placement, kLong);
    EXPECT_THAT(o.failure, HasSubstr("pinning the worker"));
    EXPECT_THAT(o.failure, HasSubstr("1023"));
    placement.worker_cpu = -1;
    EXPECT_THAT(run({}, throughput(64, 100, 64), placement, kLong).failure,
                HasSubstr("there is no CPU -1"));
}

TEST(Run, PinnedThreadsAreWhereTheyWereAskedToBe) {
    const auto cpus = allowed_cpus();
    Placement placement;
    placement.receiver_cpu = cpus.front();
    placement.worker_cpu = cpus.back();
    std::atomic<int> wrong{0};
    std::atomic<pid_t> worker{0};
    std::atomic<pid_t> receiver{0};
    Hooks hooks;
    hooks.worker_starts = [&](pid_t tid) {
        worker = tid;
        wrong += check_pinned(cpus.back()).empty() ? 0 : 1;
    };
    hooks.receiver_starts = [&](pid_t tid) {
        receiver = tid;
        wrong += check_pinned(cpus.front()).empty() ? 0 : 1;
    };
    hooks.worker_ends = [&](pid_t tid) { wrong += tid == worker ? 0 : 1; };
    hooks.receiver_ends = [&](pid_t tid) { wrong += tid == receiver ? 0 : 1; };
    const Outcome o = run({}, throughput(64, 1000, 64), placement, kLong, hooks);
    EXPECT_EQ(o.failure, "");
    EXPECT_EQ(wrong, 0);
    EXPECT_NE(worker, receiver);
    EXPECT_NE(worker, 0);
}

TEST(Run, AThreadThatIsMovedDuringTheRunIsAFailure) {
    const auto cpus = allowed_cpus();
    if (cpus.size() < 2) GTEST_SKIP() << "one CPU only";
    Placement placement;
    placement.receiver_cpu = cpus[0];
    placement.worker_cpu = cpus[1];
    Hooks hooks;
    hooks.worker_ends = [&](pid_t) { EXPECT_EQ(pin_this_thread(cpus[0]), ""); };
    const Outcome o = run({}, throughput(64, 1000, 64), placement, kLong, hooks);
    EXPECT_THAT(o.failure, HasSubstr("the worker was moved"));
}

TEST(Run, WarnsOfWhatSpoilsAMeasurement) {
    const auto cpus = allowed_cpus();
    Placement placement;
    placement.receiver_cpu = placement.worker_cpu = placement.device_cpu = cpus.front();
    placement.idle_poll = true;
    State state;
    state.parameters = {{"irq-cost-ns", 100}, {"kick-cost-ns", 100}};
    const Outcome o = run(state, throughput(300, 2000, 300), placement, kLong);
    EXPECT_EQ(o.failure, "");
    std::vector<std::string> codes;
    for (const Warning& warning : o.warnings)
        codes.push_back(warning.code);
    EXPECT_THAT(codes, testing::IsSupersetOf({"cpus_shared", "device_on_receiver_cpu", "idle_poll",
                                              "injected_cost"}));
    EXPECT_EQ(std::count(codes.begin(), codes.end(), "too_few_cpus"), cpus.size() < 3 ? 1 : 0);
}

}  // namespace
}  // namespace vsb::engine
