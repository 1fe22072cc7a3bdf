#include "engine/vsock/worker.h"

#include <gtest/gtest.h>

#include "engine/vsock/test_rig.h"

namespace vsb::engine {
namespace {

TEST(Worker, DropsShortOverLongAndLyingPacketsUnderEveryPolicy) {
    for (const auto& policy : policy_table()) {
        Rig rig(policy.name);
        Socket& sk = rig.connected(7);
        rig.packet(Rig::header(7), {}, 0);
        rig.packet(Rig::header(7), {}, 43);
        rig.packet(Rig::header(7), {}, 3777);  // the buffer holds 3776
        Header h = Rig::header(7);
        h.len = 11;
        rig.packet(h, std::vector<std::byte>(10), 54);
        h.len = 0xffffffff;
        rig.packet(h, std::vector<std::byte>(10), 54);
        rig.flush();
        EXPECT_EQ(rig.me.counts.drops_short, 2U) << policy.name;
        EXPECT_EQ(rig.me.counts.drops_over_long, 1U);
        EXPECT_EQ(rig.me.counts.drops_bad_length, 2U);
        EXPECT_EQ(rig.me.counts.packets, 0U);
        EXPECT_EQ(sk.rx.bytes(), 0U);
        EXPECT_TRUE(rig.replies().empty());
        // Less payload than arrived is allowed, as in the kernel: the rest is ignored.
        h.len = 4;
        rig.packet(h, std::vector<std::byte>(10), 54);
        rig.flush();
        EXPECT_EQ(rig.me.counts.payload_bytes, 4U);
    }
}

TEST(Worker, UnknownSocketsAreResetButResetsAreNot) {
    Rig rig("per-packet");
    rig.data(7, 10);
    rig.packet(Rig::header(7, Op::rst), {});
    const auto replies = rig.replies();
    ASSERT_EQ(replies.size(), 1U);
    EXPECT_EQ(replies[0].op, Op::rst);
    EXPECT_EQ(replies[0].src_cid, Rig::kGuestCid);
    EXPECT_EQ(replies[0].dst_cid, Rig::kHostCid);
    EXPECT_EQ(replies[0].dst_port, 7U);
    EXPECT_EQ(rig.me.counts.resets, 1U);
    EXPECT_EQ(rig.me.counts.drops_no_socket, 2U);
}

TEST(Worker, AFullReceiveQueueBreaksTheConnection) {
    for (const auto& policy : policy_table()) {
        if (policy.name == "noop") continue;
        Rig rig(policy.name);
        Socket& sk = rig.connected(7, PacketType::stream, 1000);
        rig.data(7, 1000);
        rig.data(7, 1);  // the peer overruns its credit
        rig.data(7, 1);
        rig.flush();
        EXPECT_EQ(rig.me.counts.drops_receive_limit, 1U) << policy.name;
        EXPECT_EQ(rig.me.counts.drops_closed, 1U);
        EXPECT_TRUE(sk.reset);
        const auto replies = rig.replies();
        ASSERT_EQ(replies.size(), 2U);
        EXPECT_EQ(replies[0].op, Op::rst);
        // What was queued before can still be read, then the stream ends.
        std::vector<std::byte> out(2000);
        EXPECT_EQ(recv_stream(rig.ctx, sk, out.data(), 2000, true, rig.me).bytes, 1000U);
        EXPECT_EQ(recv_stream(rig.ctx, sk, out.data(), 2000, true, rig.me).status,
                  RecvStatus::end_of_stream);
    }
}

TEST(Worker, ShutdownWithNothingQueuedIsAnsweredAndWithBytesWaits) {
    Rig rig("deferred-notify");
    Socket& sk = rig.connected(7);
    rig.data(7, 100);
    rig.packet(Rig::header(7, Op::shutdown, kShutdownMask), {});
    EXPECT_TRUE(rig.replies().empty());
    std::vector<std::byte> out(200);
    EXPECT_EQ(recv_stream(rig.ctx, sk, out.data(), 200, true, rig.me).bytes, 100U);
    EXPECT_EQ(recv_stream(rig.ctx, sk, out.data(), 200, true, rig.me).status,
              RecvStatus::end_of_stream);
    Socket& empty = rig.connected(8);
    rig.replies();
    rig.packet(Rig::header(8, Op::shutdown, kShutdownSend), {});
    EXPECT_TRUE(rig.replies().empty());  // half closed
    rig.packet(Rig::header(8, Op::shutdown, kShutdownRcv), {});
    const auto replies = rig.replies();
    ASSERT_EQ(replies.size(), 1U);
    EXPECT_EQ(replies[0].op, Op::rst);
    EXPECT_EQ(empty.state, SocketState::closing);
}

TEST(Worker, CreditRequestIsAnsweredWithTheTruth) {
    Rig rig("per-packet");
    Socket& sk = rig.connected(7, PacketType::stream, 5000);
    rig.data(7, 300);
    std::vector<std::byte> out(200);
    recv_stream(rig.ctx, sk, out.data(), 200, true, rig.me);
    rig.replies();
    rig.packet(Rig::header(7, Op::credit_request), {});
    const auto replies = rig.replies();
    ASSERT_EQ(replies.size(), 1U);
    EXPECT_EQ(replies[0].op, Op::credit_update);
    EXPECT_EQ(replies[0].buf_alloc, 5000U);
    EXPECT_EQ(replies[0].fwd_cnt, 200U);
}

TEST(Worker, StopsForUnsentRepliesAndGoesOn) {
    Rig rig("lock-batch", {}, 4096, 4);
    EXPECT_TRUE(rig.tx.more_replies());
    for (std::uint32_t i = 0; i < 4; ++i)
        rig.data(100 + i, 1);  // each is answered by a reset
    EXPECT_FALSE(rig.tx.more_replies());
    for (std::uint32_t i = 0; i < 9; ++i)
        rig.data(200 + i, 1);  // queued behind a full ring
    const auto replies = rig.replies();
    EXPECT_EQ(replies.size(), 13U);
    EXPECT_TRUE(
        std::is_sorted(replies.begin(), replies.end(),
                       [](const Header& a, const Header& b) { return a.dst_port < b.dst_port; }));
    EXPECT_TRUE(rig.tx.more_replies());
}

TEST(SocketCalls, SendsInPiecesAndWaitsForCredit) {
    Rig rig("per-packet");
    Socket& sk = rig.connected(7);
    Header h = Rig::header(7, Op::credit_update);
    h.buf_alloc = 100;
    rig.packet(h, {});
    EXPECT_EQ(sk.tx.space(), 100U);
    std::vector<std::byte> data(100);
    EXPECT_TRUE(send_all(rig.ctx, sk, data.data(), 100, rig.me));
    EXPECT_EQ(sk.tx.space(), 0U);
    const auto replies = rig.replies();
    ASSERT_EQ(replies.size(), 1U);
    EXPECT_EQ(replies[0].len, 100U);
    h.buf_alloc = 60;  // the peer shrinks its buffer: no credit, not a negative one
    rig.packet(h, {});
    EXPECT_EQ(sk.tx.space(), 0U);
    h.fwd_cnt = 90;
    rig.packet(h, {});
    EXPECT_EQ(sk.tx.space(), 50U);
}

TEST(SocketCalls, CloseResetsOrShutsDown) {
    Rig rig("per-packet");
    Socket& a = rig.connected(7);
    a.hold();
    close(rig.ctx, a, rig.me);
    auto replies = rig.replies();
    ASSERT_EQ(replies.size(), 1U);
    EXPECT_EQ(replies[0].op, Op::shutdown);
    EXPECT_EQ(replies[0].flags, kShutdownMask);
    rig.data(7, 10);  // nobody there any more
    replies = rig.replies();
    ASSERT_EQ(replies.size(), 1U);
    EXPECT_EQ(replies[0].op, Op::rst);
}

}  // namespace
}  // namespace vsb::engine
