#include "engine/dgram_sendmsg/system.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>
#include <functional>
#include <stdexcept>
#include <thread>

#include "engine/dgram_sendmsg/receiver.h"

namespace vsb::engine::dgram_sendmsg {
namespace {

constexpr std::uint64_t kLong = 600'000'000'000;  // ns: sanitizers on a busy machine

State state(std::string policy,
            std::vector<std::pair<std::string, std::uint64_t>> parameters = {}) {
    return {"dgram-sendmsg", std::move(policy), std::move(parameters)};
}

Workload datagrams(std::uint64_t n, std::uint64_t bytes) {
    Workload workload;
    workload.writes = n;
    workload.payload_bytes = bytes;
    workload.seed = 5;
    return workload;
}

std::uint64_t count(const Outcome& outcome, const std::string& name) {
    for (const Count& each : outcome.counts) {
        if (each.name == name) return each.value;
    }
    ADD_FAILURE() << "no counter " << name;
    return 0;
}

void expect_whole(const Outcome& outcome, std::uint64_t n, std::uint64_t bytes) {
    EXPECT_EQ(outcome.failure, "");
    EXPECT_EQ(outcome.units, n);
    EXPECT_EQ(outcome.bytes_sent, n * bytes);
    EXPECT_EQ(outcome.bytes_received, n * bytes);
    EXPECT_GT(outcome.first_to_last_ns, 0U);
    // Every sleep was ended by one wake, and no wake was for nobody.
    EXPECT_EQ(count(outcome, "sender_sleeps") + count(outcome, "receiver_sleeps") +
                  count(outcome, "connector_sleeps"),
              count(outcome, "wake_system_calls"));
    EXPECT_EQ(count(outcome, "records_freed"),
              count(outcome, "records_freed") == 0 ? 0 : count(outcome, "records_replaced"));
}

TEST(DgramSendmsg, EveryPolicyDeliversEveryDatagramOfEveryThread) {
    for (const std::uint64_t threads : {1U, 2U, 16U}) {
        for (const std::uint64_t bytes : {1U, 4096U}) {
            const std::uint64_t n = 4001;  // not a multiple of the threads
            const Outcome locked = run_trial(state("socket-lock", {{"threads", threads}}),
                                             datagrams(n, bytes), {}, kLong, {}, {});
            expect_whole(locked, n, bytes);
            EXPECT_EQ(count(locked, "socket_locks"), n);
            EXPECT_EQ(count(locked, "auto_binds"), 1U);

            const Outcome lockless = run_trial(state("lockless", {{"threads", threads}}),
                                               datagrams(n, bytes), {}, kLong, {}, {});
            expect_whole(lockless, n, bytes);
            // The first of each thread at most: whoever still found the socket unbound.
            EXPECT_GE(count(lockless, "socket_locks"), 1U);
            EXPECT_LE(count(lockless, "socket_locks"), threads);
            EXPECT_EQ(count(lockless, "auto_binds"), 1U);

            const Outcome noop = run_trial(state("noop", {{"threads", threads}}),
                                           datagrams(n, bytes), {}, kLong, {}, {});
            expect_whole(noop, n, bytes);
            EXPECT_EQ(count(noop, "socket_locks"), 0U);
            EXPECT_EQ(count(noop, "auto_binds"), 0U);
        }
    }
}

// The receiver checks each datagram's address against the transport that carried it, so a send that
// saw half of one destination and half of another fails the trial.
TEST(DgramSendmsg, ADestinationReplacedMeanwhileIsSeenWhole) {
    for (const auto* policy : {"socket-lock", "lockless"}) {
        const Outcome outcome = run_trial(state(policy, {{"threads", 16}, {"reconnects", 5000}}),
                                          datagrams(20'000, 64), {}, kLong, {}, {});
        expect_whole(outcome, 20'000, 64);
        EXPECT_EQ(count(outcome, "records_replaced"), 5000U);
        EXPECT_EQ(count(outcome, "connect_locks"), 5000U);
        EXPECT_EQ(count(outcome, "auto_binds"), 1U);
    }
}

TEST(DgramSendmsgSlow, AMillionReplacementsUnderSixteenThreads) {
    const Outcome outcome =
        run_trial(state("lockless", {{"threads", 16}, {"reconnects", 1'000'000}}),
                  datagrams(400'000, 64), {}, 4 * kLong, {}, {});
    expect_whole(outcome, 400'000, 64);
    EXPECT_EQ(count(outcome, "records_freed"), 1'000'000U);
}

// A send buffer of one byte lets one datagram in at a time: every send waits for the one before, so
// a lost wakeup would end in the deadline.
TEST(DgramSendmsg, NoWakeupIsLostInATinySendBuffer) {
    for (const auto* policy : {"socket-lock", "lockless", "noop"}) {
        const Outcome outcome = run_trial(state(policy, {{"threads", 4}, {"sndbuf", 1}}),
                                          datagrams(1000, 64), {}, kLong, {}, {});
        expect_whole(outcome, 1000, 64);
    }
}

TEST(DgramSendmsg, StoppedInTheMiddleItEndsAndFreesEverything) {
    for (const auto* policy : {"socket-lock", "lockless", "noop"}) {
        int polls = 0;
        const Outcome outcome =
            run_trial(state(policy, {{"threads", 8}, {"sndbuf", 5000}}),
                      datagrams(UINT64_MAX / 2, 4096), {}, kLong, {}, [&] { return ++polls == 3; });
        EXPECT_EQ(outcome.failure, "interrupted");
        EXPECT_GE(count(outcome, "datagrams_sent"), outcome.units);
    }
    EXPECT_EQ(run_trial(state("lockless", {{"reconnects", 10'000'000}}), datagrams(1U << 30, 64),
                        {}, 5'000'000, {}, {})
                  .failure.substr(0, 9),
              "deadline:");
}

TEST(DgramSendmsg, HooksRunOnTheReceiverAndBadValuesAreRefused) {
    Hooks hooks;
    pid_t started = 0;
    pid_t ended = 0;
    hooks.receiver_starts = [&](pid_t tid) { started = tid; };
    hooks.receiver_ends = [&](pid_t tid) { ended = tid; };
    expect_whole(run_trial(state("lockless"), datagrams(100, 64), {}, kLong, hooks, {}), 100, 64);
    EXPECT_NE(started, 0);
    EXPECT_EQ(started, ended);

    const auto refused = [](const State& bad, const Workload& workload) {
        EXPECT_THROW(run_trial(bad, workload, {}, kLong, {}, {}), std::invalid_argument);
    };
    refused(state("lock"), datagrams(1, 1));
    refused(state("lockless", {{"threads", 65}}), datagrams(1, 1));
    refused(state("lockless", {{"threads", 0}}), datagrams(1, 1));
    refused(state("noop", {{"reconnects", 1}}), datagrams(1, 1));
    refused(state("lockless"), datagrams(1, 65'537));
}

// One socket, senders taking turns in any order, single-threaded: all policies put the same
// datagrams on the queue in the same order.
using Sent = std::vector<
    std::tuple<std::uint32_t, std::uint64_t, std::uint32_t, std::uint32_t, std::vector<std::byte>>>;

Sent play(const std::function<std::unique_ptr<Send>(const Remote&, Ports&)>& make,
          const std::vector<std::pair<std::uint32_t, std::uint32_t>>& turns, bool reconnects) {
    const trial::Pattern pattern(1, 65536);
    ReceiveQueue queue;
    SendBuffer buffer(UINT64_MAX);
    const Transport transports[2] = {Transport(0, buffer, queue), Transport(1, buffer, queue)};
    const auto remote = [&](std::uint64_t n) {
        return Remote{address_of(n), &transports[transport_of(n)]};
    };
    Ports ports;
    const auto socket = make(remote(0), ports);
    Current me;
    std::uint64_t n = 0;
    for (const auto& [sender, length] : turns) {
        EXPECT_TRUE(socket->send({sender, n, {pattern.of(n), length}}, me));
        ++n;
        if (reconnects) {
            EXPECT_TRUE(socket->connect(remote(n), me));
        }
    }
    Sent sent;
    for (Datagram* next = queue.take_all(); next != nullptr;) {
        const DatagramPtr one(next);
        next = one->next;
        sent.emplace_back(one->sender, one->sequence, one->to.port, one->transport,
                          std::vector(one->bytes(), one->bytes() + one->length));
    }
    return sent;
}

RC_GTEST_PROP(DgramSendmsg, EveryPolicyQueuesTheSameDatagrams, ()) {
    const auto turns = *rc::gen::container<std::vector<std::pair<std::uint32_t, std::uint32_t>>>(
        rc::gen::pair(rc::gen::inRange(0U, 8U),
                      rc::gen::oneOf(rc::gen::inRange(1U, 200U), rc::gen::inRange(1U, 65'537U))));
    const auto lockless = [](const Remote& remote, Ports& ports) {
        return make_lockless(remote, ports, 8);
    };
    const Sent locked = play(make_socket_lock, turns, false);
    RC_ASSERT(locked.size() == turns.size());
    RC_ASSERT(play(lockless, turns, false) == locked);
    RC_ASSERT(play(make_noop, turns, false) == locked);
    const Sent moving = play(make_socket_lock, turns, true);
    RC_ASSERT(play(lockless, turns, true) == moving);
    for (std::size_t i = 0; i < moving.size(); ++i) {
        RC_ASSERT(std::get<2>(moving[i]) == address_of(i).port);
        RC_ASSERT(std::get<3>(moving[i]) == i % 2);
    }
}

// The receiver must be able to find fault: three datagrams, the second spoilt.
std::string receive_spoilt(const std::function<void(Datagram&)>& spoil) {
    const trial::Pattern pattern(5, 64);
    ReceiveQueue queue;
    SendBuffer buffer(UINT64_MAX);
    const Transport transport(0, buffer, queue);
    const Expected expected{{3}, 64, {kCidLocal, 1024}, 1};
    Current me;
    for (std::uint64_t n = 0; n < 3; ++n) {
        EXPECT_TRUE(transport.dgram_enqueue(expected.from, address_of(0),
                                            {0, n, {pattern.of(content_of(0, n)), 64}}, me));
    }
    Datagram* const all = queue.take_all();
    spoil(*all->next);
    for (Datagram* next = all; next != nullptr;) {
        DatagramPtr one(next);
        next = one->next;
        one->next = nullptr;
        queue.push(std::move(one));
    }
    trial::Trial trial(kLong, {});
    std::vector<Warning> warnings;
    trial.add({"receiver", {}, {}, {}, [&](Task&) {
                   receive(queue, buffer, expected, pattern, me, trial);
               }});
    trial.run(false, warnings);
    return trial.failure();
}

TEST(DgramReceiver, FindsEveryKindOfFault) {
    EXPECT_EQ(receive_spoilt([](Datagram&) {}), "");
    EXPECT_EQ(receive_spoilt([](Datagram& d) { d.bytes()[63] ^= std::byte{1}; }),
              "datagram 1 of sender 0 does not hold the bytes that were sent");
    EXPECT_EQ(receive_spoilt([](Datagram& d) { d.sequence = 2; }),
              "datagram 2 of sender 0 arrived where its datagram 1 was due");
    EXPECT_EQ(receive_spoilt([](Datagram& d) { d.sender = 1; }),
              "a datagram names sender 1, who does not exist");
    EXPECT_EQ(receive_spoilt([](Datagram& d) { d.length = 63; }),
              "datagram 1 of sender 0 has 63 bytes, not 64");
    EXPECT_EQ(receive_spoilt([](Datagram& d) { d.from.port = 1025; }),
              "datagram 1 of sender 0 comes from 1:1025");
    EXPECT_EQ(receive_spoilt([](Datagram& d) { d.to.port = 5001; }),
              "datagram 1 of sender 0 went to 2:5001, where nobody sent it");
    EXPECT_EQ(receive_spoilt([](Datagram& d) { d.transport = 1; }),
              "datagram 1 of sender 0 went to 2:5000 by the transport of another address");
}

}  // namespace
}  // namespace vsb::engine::dgram_sendmsg
