#include "engine/vhost_vsock_used/system.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace vsb::engine::vhost_vsock_used {
namespace {

constexpr std::uint64_t kLong = 600'000'000'000;  // ns: sanitizers on a busy machine

State state(std::string policy,
            std::vector<std::pair<std::string, std::uint64_t>> parameters = {}) {
    return {"vhost-vsock-used", std::move(policy), std::move(parameters)};
}

Workload writes(std::uint64_t n, std::uint64_t bytes) {
    Workload workload;
    workload.writes = n;
    workload.payload_bytes = bytes;
    workload.seed = 7;
    return workload;
}

std::uint64_t count(const Outcome& outcome, const std::string& name) {
    for (const Count& each : outcome.counts) {
        if (each.name == name) return each.value;
    }
    ADD_FAILURE() << "no counter " << name;
    return 0;
}

bool warned(const Outcome& outcome, const std::string& code) {
    return std::any_of(outcome.warnings.begin(), outcome.warnings.end(),
                       [&](const Warning& warning) { return warning.code == code; });
}

void expect_whole(const Outcome& outcome, std::uint64_t n, std::uint64_t bytes) {
    EXPECT_EQ(outcome.failure, "");
    EXPECT_EQ(outcome.bytes_sent, n * bytes);
    EXPECT_EQ(outcome.bytes_received, n * bytes);
    EXPECT_EQ(outcome.units, count(outcome, "used_entries"));
    EXPECT_GT(outcome.first_to_last_ns, 0U);
    std::uint64_t entries = 0;
    for (std::size_t i = 0; i < outcome.batch_sizes.size(); ++i) {
        entries += i * outcome.batch_sizes[i];
    }
    EXPECT_EQ(entries, count(outcome, "used_entries"));
    // A waiter that a late wake found with nothing to do sleeps on, and counts one sleep.
    EXPECT_LE(count(outcome, "worker_sleeps") + count(outcome, "guest_sleeps"),
              count(outcome, "wake_system_calls"));
}

TEST(VhostVsockUsed, EveryPolicyDeliversEveryByte) {
    // Buffers of 3776 bytes hold 3732 of payload: 4 KiB take two, 64 KiB eighteen.
    const std::pair<std::uint64_t, std::uint64_t> buffers_of[] = {
        {1, 1}, {256, 1}, {4096, 2}, {65536, 18}, {1U << 20, 16 * 18}};
    for (const auto& [bytes, buffers] : buffers_of) {
        const std::uint64_t n = bytes > 4096 ? 20 : 2000;
        const Outcome one = run_trial(state("per-buffer"), writes(n, bytes), {}, kLong, {}, {});
        expect_whole(one, n, bytes);
        EXPECT_EQ(one.units, n * buffers);
        EXPECT_EQ(count(one, "publications"), n * buffers);

        const Outcome many = run_trial(state("batched"), writes(n, bytes), {}, kLong, {}, {});
        expect_whole(many, n, bytes);
        EXPECT_EQ(many.units, n * buffers);
        EXPECT_EQ(many.batch_sizes.size(), 129U);
        const std::uint64_t flushes = count(many, "flush_queue_empty") +
                                      count(many, "flush_no_buffers") +
                                      count(many, "flush_look_again") + count(many, "flush_leave");
        EXPECT_EQ(count(many, "publications"), flushes + count(many, "flush_full"));
        EXPECT_LE(count(many, "publications"), (many.units + 127) / 128 + flushes);
        EXPECT_EQ(count(many, "flush_error"), 0U);

        const Outcome floor = run_trial(state("noop"), writes(n, bytes), {}, kLong, {}, {});
        expect_whole(floor, n, bytes);
        EXPECT_EQ(count(floor, "signals") + count(floor, "kicks"), 0U);
    }
}

// A ring of two buffers makes the two sides wait for each other all the time: a lost signal or kick
// would end in the deadline.
TEST(VhostVsockUsed, NoWakeupIsLostInATinyRing) {
    for (const std::uint64_t event_idx : {0U, 1U}) {
        for (const auto* policy : {"per-buffer", "batched", "noop"}) {
            const Outcome outcome =
                run_trial(state(policy, {{"ring-size", 2}, {"event-idx", event_idx}}),
                          writes(1000, 16), {}, kLong, {}, {});
            expect_whole(outcome, 1000, 16);
        }
    }
}

// The sender is ahead, so that guest and worker take turns by the ring: whoever publishes late
// keeps nobody waiting, and what the policies differ in is the price of a publication and nothing
// else.
TEST(VhostVsockUsed, WithTheSenderAheadLatePublicationCostsNothing) {
    const auto took_ns = [](const char* policy, std::uint64_t bytes, double publish_ns) {
        VirtualMachine machine;
        machine.jitter = 0;
        machine.costs[Cost::publish] = publish_ns;
        State at = state(policy);
        at.virtual_machine = machine;
        const Outcome outcome = run(at, writes(bytes > 4096 ? 200 : 3000, bytes), {}, kLong);
        expect_whole(outcome, bytes > 4096 ? 200 : 3000, bytes);
        EXPECT_EQ(count(outcome, "runs_queue_empty"), 0U);
        EXPECT_FALSE(warned(outcome, "worker-starved"));
        return static_cast<double>(outcome.first_to_last_ns);
    };
    double at_256 = 0;
    for (const std::uint64_t bytes : {256U, 4096U, 65536U}) {
        EXPECT_EQ(took_ns("per-buffer", bytes, 0), took_ns("batched", bytes, 0));
        const double less = took_ns("per-buffer", bytes, 10) / took_ns("batched", bytes, 10);
        EXPECT_GT(less, 1.005);
        if (bytes == 256) at_256 = less;
        EXPECT_TRUE(bytes == 256 || less < at_256) << bytes << ": " << less << ", " << at_256;
    }
}

TEST(VhostVsockUsed, SaysWhenTheSenderWasNotAhead) {
    const Outcome outcome =
        run_trial(state("batched", {{"burst", 16}}), writes(1600, 64), {}, kLong, {}, {});
    expect_whole(outcome, 1600, 64);
    EXPECT_GT(count(outcome, "runs_queue_empty"), 80U);
    EXPECT_TRUE(warned(outcome, "worker-starved"));
}

TEST(VhostVsockUsed, StoppedInTheMiddleItEnds) {
    for (const auto* policy : {"per-buffer", "batched", "noop"}) {
        int polls = 0;
        const Outcome outcome = run_trial(state(policy), writes(UINT64_MAX / 4096, 4096), {}, kLong,
                                          {}, [&] { return ++polls == 3; });
        EXPECT_EQ(outcome.failure, "interrupted");
        EXPECT_GE(outcome.bytes_sent, outcome.bytes_received);
    }
    const Outcome late =
        run_trial(state("batched"), writes(UINT64_MAX / 64, 64), {}, 5'000'000, {}, {});
    EXPECT_EQ(late.failure.substr(0, 9), "deadline:");
    EXPECT_NE(late.failure.find(std::to_string(late.bytes_received) + " of "), std::string::npos)
        << late.failure;
}

TEST(VhostVsockUsed, HooksRunOnTheirThreadsAndBadValuesAreRefused) {
    Hooks hooks;
    pid_t tids[4] = {};
    hooks.worker_starts = [&](pid_t tid) { tids[0] = tid; };
    hooks.worker_ends = [&](pid_t tid) { tids[1] = tid; };
    hooks.receiver_starts = [&](pid_t tid) { tids[2] = tid; };
    hooks.receiver_ends = [&](pid_t tid) { tids[3] = tid; };
    Placement placement;
    placement.device_cpu = 0;
    const Outcome outcome =
        run_trial(state("batched"), writes(10, 64), placement, kLong, hooks, {});
    expect_whole(outcome, 10, 64);
    EXPECT_NE(tids[0], 0);
    EXPECT_EQ(tids[0], tids[1]);
    EXPECT_NE(tids[2], tids[0]);
    EXPECT_EQ(tids[2], tids[3]);
    EXPECT_TRUE(warned(outcome, "device-cpu-unused"));

    const auto refused = [](const State& bad, const Workload& workload) {
        EXPECT_THROW(run_trial(bad, workload, {}, kLong, {}, {}), std::invalid_argument);
    };
    refused(state("batch"), writes(1, 1));
    refused(state("batched", {{"ring-size", 100}}), writes(1, 1));
    refused(state("batched", {{"iov-limit", 2000}}), writes(1, 1));
    refused(state("batched"), writes(1, (1U << 20) + 1));
}

}  // namespace
}  // namespace vsb::engine::vhost_vsock_used
