// Bounds, end reasons, notifications and their order, on scripted packets and one thread.

#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "engine/vsock/test_rig.h"

namespace vsb::engine {
namespace {

const std::array<std::string_view, 3> kBatchPolicies{"lock-batch", "coalesce-write-space",
                                                     "deferred-notify"};

class Batch : public testing::TestWithParam<std::string_view> {};
INSTANTIATE_TEST_SUITE_P(Policies, Batch, testing::ValuesIn(kBatchPolicies),
                         [](const auto& p) { return test_name_of(p.param); });

TEST_P(Batch, OneLockAndOneLookUpPerSixtyFourPackets) {
    Rig rig(GetParam());
    rig.connected(7);
    for (int i = 0; i < 640; ++i)
        rig.data(7, 200);
    rig.flush();
    // 7 batches of 64, one of 7 until 455 packets fill the metadata budget, the packet that
    // collapses the queue, and 64 + 64 + 56.
    EXPECT_EQ(rig.me.counts.lock_acquisitions, 12U);
    EXPECT_EQ(rig.ends(BatchEnd::receive_limit), 1U);

    Rig small(GetParam());
    small.connected(7);
    for (int i = 0; i < 640; ++i)
        small.data(7, 64);  // merge: the budget never fills
    small.flush();
    EXPECT_EQ(small.me.counts.lock_acquisitions, 10U);
    EXPECT_EQ(small.me.counts.connected_lookups, 10U);
    EXPECT_EQ(small.ends(BatchEnd::max_pkts), 10U);
    EXPECT_EQ(small.policy().batch_sizes()[64], 10U);
}

TEST(PerPacket, OneLockAndOneLookUpAPacket) {
    Rig rig("per-packet");
    rig.connected(7);
    for (int i = 0; i < 640; ++i)
        rig.data(7, 64);
    EXPECT_EQ(rig.me.counts.lock_acquisitions, 640U);
    EXPECT_EQ(rig.me.counts.connected_lookups, 640U);
    EXPECT_EQ(rig.me.counts.batches, 0U);
    EXPECT_EQ(rig.me.counts.write_space_notifications, 640U);
    EXPECT_EQ(rig.me.counts.data_ready_notifications, 640U);
}

TEST_P(Batch, MeanBatchFallsFromSixtyFourToOneAtTwoInterleavedFlows) {
    for (const std::uint32_t flows : {1U, 2U, 4U}) {
        Rig rig(GetParam());
        for (std::uint32_t f = 0; f < flows; ++f)
            rig.connected(7 + f);
        for (std::uint32_t i = 0; i < 1280; ++i)
            rig.data(7 + i % flows, 64);
        rig.flush();
        const double mean = static_cast<double>(rig.me.counts.batched_packets) /
                            static_cast<double>(rig.me.counts.batches);
        EXPECT_EQ(mean, flows == 1 ? 64.0 : 1.0) << flows << " flows";
    }
}

TEST_P(Batch, NoOwnershipExceedsItsPackets) {
    for (const std::uint32_t bound : {1U, 2U, 3U, 64U, 200U}) {
        Rig rig(GetParam(), {bound, 1 << 20});
        rig.connected(7);
        for (int i = 0; i < 300; ++i)
            rig.data(7, 10);
        rig.flush();
        const auto sizes = rig.policy().batch_sizes();
        ASSERT_EQ(sizes.size(), bound + 1);
        EXPECT_EQ(sizes[bound], 300 / bound);
        std::uint64_t packets = 0;
        for (std::size_t n = 0; n < sizes.size(); ++n)
            packets += n * sizes[n];
        EXPECT_EQ(packets, 300U);
        EXPECT_EQ(packets, rig.me.counts.batched_packets);
        EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0}),
                  rig.me.counts.batches);
    }
}

TEST_P(Batch, NoOwnershipExceedsItsBytes) {
    Rig rig(GetParam(), {64, 1000});
    rig.connected(7);
    rig.data(7, 600);
    rig.data(7, 400);  // exactly the bound
    rig.data(7, 1);    // would exceed it: opens the next batch
    EXPECT_EQ(rig.ends(BatchEnd::max_bytes), 1U);
    rig.data(7, 999);
    rig.data(7, 1001);  // alone beyond the bound: per-packet path
    EXPECT_EQ(rig.ends(BatchEnd::oversize), 1U);
    rig.data(7, 1001);  // the same without an open batch
    rig.flush();
    EXPECT_EQ(rig.policy().batch_sizes()[2], 2U);
    EXPECT_EQ(rig.me.counts.batches, 2U);
    EXPECT_EQ(rig.me.counts.lock_acquisitions, 4U);
}

TEST_P(Batch, EveryReasonEndsTheBatchAndIsCounted) {
    using End = BatchEnd;
    struct Case {
        End why;
        void (*provoke)(Rig&, Socket&);
        std::uint32_t buf_alloc = 262144;
    };
    static const Protocol other_protocol{"other"};
    static const Transport other_transport{"other"};
    const std::vector<Case> cases{
        {End::flow_change, [](Rig& r, Socket&) { r.data(8, 10); }},
        {End::malformed, [](Rig& r, Socket&) { r.packet(Rig::header(7), {}, 43); }},
        {End::other_op, [](Rig& r, Socket&) { r.packet(Rig::header(7, Op::credit_update), {}); }},
        {End::other_type, [](Rig& r, Socket&) { r.data(7, 10, 0, PacketType::seqpacket); }},
        {End::state_change,
         [](Rig& r, Socket& sk) {
             sk.state = SocketState::closing;
             r.data(7, 10);
         }},
        {End::transport_change,
         [](Rig& r, Socket& sk) {
             sk.transport = &other_transport;
             r.data(7, 10);
         }},
        {End::protocol_change,
         [](Rig& r, Socket& sk) {
             sk.protocol = &other_protocol;
             r.data(7, 10);
         }},
        {End::callback_change,
         [](Rig& r, Socket& sk) {
             sk.data_ready = [](Socket&, Current&) noexcept {};
             r.data(7, 10);
         }},
        {End::sockmap,
         [](Rig& r, Socket& sk) {
             sk.psock = &r;
             r.data(7, 10);
         }},
        {End::receive_limit, [](Rig& r, Socket&) { r.data(7, 500); }, 1000},
        {End::ring_empty, [](Rig& r, Socket&) { r.flush(BatchEnd::ring_empty); }},
        {End::worker_return, [](Rig& r, Socket&) { r.flush(BatchEnd::worker_return); }},
    };
    for (const Case& c : cases) {
        SCOPED_TRACE(kBatchEndNames[static_cast<std::size_t>(c.why)]);
        Rig rig(GetParam());
        Socket& sk = rig.connected(7, PacketType::stream, c.buf_alloc);
        rig.connected(8);
        rig.data(7, 300);
        rig.data(7, 301);
        EXPECT_TRUE(sk.lock.owned());
        c.provoke(rig, sk);
        EXPECT_FALSE(sk.lock.owned());  // what ended the batch took the per-packet path, or none
        EXPECT_EQ(rig.ends(c.why), 1U);
        EXPECT_EQ(rig.me.counts.batches, 1U);
        EXPECT_EQ(rig.policy().batch_sizes()[2], 1U);
        rig.flush();
        EXPECT_EQ(rig.me.counts.batches, 1U);
    }
}

TEST_P(Batch, SocketsThatAreNotNativeNeverEnterABatch) {
    Rig rig(GetParam());
    Socket& sk = rig.connected(7);
    sk.write_space = [](Socket&, Current&) noexcept {};
    rig.data(7, 10);
    EXPECT_FALSE(sk.lock.owned());
    rig.connected(8, PacketType::seqpacket);
    rig.data(8, 10, kSeqEom, PacketType::seqpacket);
    rig.flush();
    EXPECT_EQ(rig.me.counts.batches, 0U);
    EXPECT_EQ(sk.rx.bytes(), 10U);
}

TEST_P(Batch, AConnectedMissMayStillFindABoundSocket) {
    Rig rig(GetParam());
    Socket& listener = rig.listening(Rig::kLocalPort);
    rig.connected(7);
    rig.data(7, 10);
    rig.packet(Rig::header(9, Op::request), {});  // ends the batch, reaches the listener
    EXPECT_EQ(rig.ends(BatchEnd::flow_change), 1U);
    Socket* child = accept(listener, rig.me);
    ASSERT_NE(child, nullptr);
    rig.data(9, 20);  // the child is in the connected table now: a batch of its own
    rig.flush();
    EXPECT_EQ(child->rx.bytes(), 20U);
    EXPECT_EQ(rig.me.counts.batches, 2U);
    const auto replies = rig.replies();
    ASSERT_EQ(replies.size(), 1U);
    EXPECT_EQ(replies[0].op, Op::response);
    rig.data(10, 20);  // a stranger's data: the listener resets it
    ASSERT_EQ(rig.replies().size(), 1U);
    rig.tables.remove_connected(*child, rig.me);
    child->put(rig.me);
}

TEST_P(Batch, ReferencesBalance) {
    Rig rig(GetParam());
    Socket& sk = rig.connected(7);
    const auto before = sk.references.load();
    rig.data(7, 10);
    EXPECT_EQ(sk.references, before + 1);
    rig.data(7, 10);
    rig.flush();
    EXPECT_EQ(sk.references, before);
}

// What the callbacks saw, in the order they were called.
struct Seen {
    char what;
    bool locked;
    std::uint32_t bytes;
    std::uint32_t references;
};
std::vector<Seen> g_seen;

NativeCallbacks recording() {
    return {[](Socket& sk, Current&) noexcept {
                g_seen.push_back({'d', sk.lock.owned(), sk.rx.bytes(), sk.references});
            },
            [](Socket& sk, Current&) noexcept {
                g_seen.push_back({'w', sk.lock.owned(), sk.rx.bytes(), sk.references});
            }};
}

std::string letters() {
    std::string text;
    for (const Seen& seen : g_seen)
        text += seen.what;
    return text;
}

std::string three_packets(std::string_view policy) {
    g_seen.clear();
    Rig rig(policy);
    rig.connected(7, PacketType::stream, 262144, recording());
    for (int i = 0; i < 3; ++i)
        rig.data(7, 300);
    rig.flush();
    return letters();
}

TEST(Notifications, PerPacketAndLockBatchNotifyForEveryPacketUnderTheLock) {
    for (const std::string_view policy : {"per-packet", "lock-batch"}) {
        EXPECT_EQ(three_packets(policy), "wdwdwd") << policy;
        for (const Seen& seen : g_seen)
            EXPECT_TRUE(seen.locked) << policy;
    }
}

TEST(Notifications, CoalesceSaysWriteSpaceOnceUnderTheLock) {
    EXPECT_EQ(three_packets("coalesce-write-space"), "dddw");
    for (const Seen& seen : g_seen)
        EXPECT_TRUE(seen.locked);
}

TEST(Notifications, DeferredSaysBothOnceAfterTheReleaseWithTheReferenceHeld) {
    EXPECT_EQ(three_packets("deferred-notify"), "wd");
    for (const Seen& seen : g_seen) {
        EXPECT_FALSE(seen.locked);
        EXPECT_EQ(seen.bytes, 900U);
        EXPECT_EQ(seen.references, 3U);  // the test's, the table's, the batch's
    }
}

TEST(Notifications, DataReadyOnlyFromTheLowWaterMarkOn) {
    for (const auto& policy : policy_table()) {
        if (policy.name == "noop") continue;
        g_seen.clear();
        Rig rig(policy.name);
        Socket& sk = rig.connected(7, PacketType::stream, 262144, recording());
        sk.rcvlowat = 600;
        rig.data(7, 599);
        rig.flush();
        EXPECT_EQ(letters(), "w") << policy.name;
        rig.data(7, 1);
        rig.flush();
        EXPECT_EQ(letters(), policy.name == "coalesce-write-space" ? "wdw" : "wwd");
    }
}

TEST(Notifications, NoWriteSpaceWhenWritersHaveNoRoom) {
    for (const auto& policy : policy_table()) {
        if (policy.name == "noop") continue;
        g_seen.clear();
        Rig rig(policy.name);
        rig.connected(7, PacketType::stream, 262144, recording());
        Header h = Rig::header(7);
        h.buf_alloc = 0;
        rig.packet(h, std::vector<std::byte>(300));
        rig.flush();
        EXPECT_EQ(letters(), "d") << policy.name;
    }
}

TEST(Notifications, ReplacedMidBatchTheSavedOnesTellOfWhatWasQueuedBefore) {
    for (const std::string_view policy : {"coalesce-write-space", "deferred-notify"}) {
        g_seen.clear();
        Rig rig(policy);
        Socket& sk = rig.connected(7, PacketType::stream, 262144, recording());
        rig.data(7, 300);
        sk.data_ready = [](Socket&, Current&) noexcept { g_seen.push_back({'D', false, 0, 0}); };
        sk.write_space = [](Socket&, Current&) noexcept { g_seen.push_back({'W', false, 0, 0}); };
        rig.data(7, 300);
        rig.flush();
        EXPECT_EQ(letters(), policy == "deferred-notify" ? "wdWD" : "dwWD") << policy;
    }
}

}  // namespace
}  // namespace vsb::engine
