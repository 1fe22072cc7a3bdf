#include "engine/vhost_net_rx/system.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "engine/vhost_net_rx/producer.h"
#include "engine/vhost_net_rx/worker.h"

namespace vsb::engine::vhost_net_rx {
namespace {

constexpr std::uint64_t kLong = 600'000'000'000;  // ns: sanitizers on a busy machine

State state(std::string policy,
            std::vector<std::pair<std::string, std::uint64_t>> parameters = {}) {
    return {"vhost-net-rx", std::move(policy), std::move(parameters)};
}

Workload packets(std::uint64_t n, std::uint64_t bytes) {
    Workload workload;
    workload.writes = n;
    workload.payload_bytes = bytes;
    workload.seed = 3;
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
    EXPECT_EQ(outcome.units, n);
    EXPECT_EQ(outcome.bytes_sent, n * bytes);
    EXPECT_EQ(outcome.bytes_received, n * bytes);
    EXPECT_GT(outcome.first_to_last_ns, 0U);
    EXPECT_EQ(count(outcome, "outstanding"), 0U);
    EXPECT_EQ(count(outcome, "freed_at_stop"), 0U);
    std::uint64_t in_batches = 0;
    for (std::size_t i = 0; i < outcome.batch_sizes.size(); ++i) {
        in_batches += i * outcome.batch_sizes[i];
    }
    EXPECT_EQ(in_batches, n);
    EXPECT_EQ(count(outcome, "sleeps"), count(outcome, "wakeups"));
    EXPECT_EQ(count(outcome, "signals"), 0U);  // the guest polls
    EXPECT_EQ(count(outcome, "producer_locks"), n + count(outcome, "producer_full_polls"));
    EXPECT_EQ(warned(outcome, "consumer-starved"), count(outcome, "empty_polls") * 10 >= n);
}

TEST(VhostNetRx, EveryPolicyDeliversEveryPacketAndItsCountsAdd) {
    for (const std::uint64_t bytes : {1U, 64U, 1500U, 65536U}) {
        const std::uint64_t n = bytes > 4096 ? 200 : 5000;
        const Outcome per_skb = run_trial(state("per-skb"), packets(n, bytes), {}, kLong, {}, {});
        expect_whole(per_skb, n, bytes);
        EXPECT_GE(count(per_skb, "consumer_locks"), 2 * n);
        for (const std::uint64_t batch : {1U, 4U, 16U, 64U, 256U}) {
            const Outcome batched =
                run_trial(state("batch", {{"batch", batch}}), packets(n, bytes), {}, kLong, {}, {});
            expect_whole(batched, n, bytes);
            EXPECT_EQ(batched.batch_sizes.size(), batch + 1);
            EXPECT_GE(count(batched, "consumptions"), (n + batch - 1) / batch);
            EXPECT_LE(count(batched, "consumptions"), n);
        }
        const Outcome noop = run_trial(state("noop"), packets(n, bytes), {}, kLong, {}, {});
        expect_whole(noop, n, bytes);
        EXPECT_EQ(count(noop, "consumer_locks"), 0U);
    }
}

// More packets than half of what an index counts to: the guest must have said again, in each of its
// polls, that it wants no signal.
TEST(VhostNetRx, AGuestThatPollsIsNeverSignalled) {
    expect_whole(run_trial(state("batch"), packets(70'000, 1), {}, kLong, {}, {}), 70'000, 1);
}

// A ring of two slots makes both sides wait for each other all the time: a lost wakeup would end in
// the deadline.
TEST(VhostNetRx, NoWakeupIsLostInATinyRing) {
    for (const auto* policy : {"per-skb", "batch", "noop"}) {
        const Outcome outcome = run_trial(state(policy, {{"ring-size", 2}, {"batch", 2}}),
                                          packets(2000, 64), {}, kLong, {}, {});
        expect_whole(outcome, 2000, 64);
    }
}

TEST(VhostNetRx, StoppedInTheMiddleItFreesEverything) {
    for (const auto* policy : {"per-skb", "batch", "noop"}) {
        int polls = 0;
        const Outcome outcome = run_trial(state(policy), packets(UINT64_MAX, 64), {}, kLong, {},
                                          [&] { return ++polls == 3; });
        EXPECT_EQ(outcome.failure, "interrupted");
        EXPECT_EQ(count(outcome, "outstanding"), 0U);
        EXPECT_EQ(count(outcome, "packets_produced"),
                  count(outcome, "packets_delivered") + count(outcome, "freed_at_stop"));
    }
    const Outcome late = run_trial(state("batch"), packets(UINT64_MAX, 1), {}, 5'000'000, {}, {});
    EXPECT_EQ(late.failure.substr(0, 9), "deadline:");
}

// Nobody empties the ring: when the trial ends, the producer holds a packet that found no room.
TEST(VhostNetRx, AProducerThatIsStoppedAtAFullRingKeepsNoPacket) {
    const trial::Pattern pattern(3, 64);
    PtrRing<Packet> ring(8);
    PacketPool pool(64, 64);
    WaitQueue queue;
    ProducerCounts counts;
    int polls = 0;
    std::vector<Warning> warnings;
    trial::Trial trial(kLong, [&] { return ++polls == 3; });
    trial.add({"producer", {}, {}, {}, [&](Task&) {
                   counts = produce(ring, pool, pattern, 100, 64, queue, trial);
               }});
    trial.run(false, warnings);
    EXPECT_EQ(trial.failure(), "interrupted");
    EXPECT_EQ(counts.produced, 8U);
    EXPECT_GT(counts.full_polls, 0U);
    EXPECT_EQ(pool.outstanding(), 8U);
    EXPECT_EQ(ring.cleanup([&](Packet* packet) { pool.put(packet); }), 8U);
    EXPECT_EQ(pool.outstanding(), 0U);
}

TEST(VhostNetRx, HooksRunOnTheWorkerAndARefusedCpuIsAFailure) {
    Hooks hooks;
    pid_t started = 0;
    pid_t ended = 0;
    hooks.worker_starts = [&](pid_t tid) { started = tid; };
    hooks.worker_ends = [&](pid_t tid) { ended = tid; };
    expect_whole(run_trial(state("batch"), packets(100, 64), {}, kLong, hooks, {}), 100, 64);
    EXPECT_NE(started, 0);
    EXPECT_EQ(started, ended);

    Placement nowhere;
    nowhere.worker_cpu = 100'000;
    const Outcome refused = run_trial(state("batch"), packets(100, 64), nowhere, kLong, {}, {});
    EXPECT_NE(refused.failure.find("CPU 100000"), std::string::npos) << refused.failure;
    EXPECT_EQ(refused.units, 0U);
}

TEST(VhostNetRx, BadValuesAreRefusedByName) {
    const auto refused = [](const State& bad, const Workload& workload) {
        try {
            run_trial(bad, workload, {}, kLong, {}, {});
        } catch (const std::invalid_argument& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    EXPECT_EQ(refused(state("per-sbk"), packets(1, 1)),
              "vhost-net-rx has no policy 'per-sbk' (it has per-skb, batch, noop)");
    EXPECT_EQ(refused(state("batch", {{"batches", 2}}), packets(1, 1)),
              "vhost-net-rx has no parameter 'batches' (it has batch, ring-size, busy-poll)");
    EXPECT_EQ(refused(state("batch", {{"batch", 257}}), packets(1, 1)),
              "batch=257 is out of range (1 to 256)");
    EXPECT_EQ(refused(state("batch", {{"batch", 2}, {"batch", 2}}), packets(1, 1)),
              "batch is given twice");
    EXPECT_EQ(refused(state("batch"), packets(1, 65537)),
              "payload 65537 B is out of range for vhost-net-rx (1 to 65536)");
    EXPECT_NE(refused(state("batch"), packets(0, 1)), "accepted");
    Workload rtt = packets(1, 1);
    rtt.kind = Kind::rtt;
    EXPECT_NE(refused(state("batch"), rtt), "accepted");
}

// The sink must be able to find fault: a ring filled with one wrong packet.
class Sink : public testing::Test {
  protected:
    std::string deliver(const std::function<void(Packet&)>& spoil) {
        const trial::Pattern pattern(3, 64);
        PtrRing<Packet> ring(8);
        PacketPool pool(64, 64);
        for (std::uint64_t i = 0; i < 3; ++i) {
            Packet* const packet = pool.take();
            packet->sequence = i;
            packet->length = 64;
            std::memcpy(packet->bytes(), pattern.of(i), 64);
            if (i == 1) spoil(*packet);
            EXPECT_TRUE(ring.produce(packet));
        }
        const auto dequeue = make_batch(ring, 2);
        WaitQueue queue;
        trial::Trial trial(kLong, {});
        std::vector<Warning> warnings;
        trial.add({"worker", {}, {}, {}, [&](Task& task) {
                       drain(*dequeue, pool, pattern, 3, 64, 0, queue, task, trial);
                   }});
        trial.run(false, warnings);
        return trial.failure();
    }
};

TEST_F(Sink, FindsAWrongByteAWrongLengthAndAWrongPacket) {
    EXPECT_EQ(deliver([](Packet&) {}), "");
    EXPECT_EQ(deliver([](Packet& packet) { packet.bytes()[63] ^= std::byte{1}; }),
              "packet 1 does not hold the bytes that were sent");
    EXPECT_EQ(deliver([](Packet& packet) { packet.length = 63; }), "packet 1 has 63 bytes, not 64");
    EXPECT_EQ(deliver([](Packet& packet) { packet.sequence = 0; }),
              "packet 0 arrived where packet 1 was due");
}

}  // namespace
}  // namespace vsb::engine::vhost_net_rx
