#include "engine/vsock/receive_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace vsb::engine {
namespace {

using Enqueued = ReceiveQueue::Enqueued;

class ReceiveQueueTest : public testing::Test {
  protected:
    static constexpr std::uint32_t kBuffer = 4096 - kSharedInfoBytes;
    static constexpr std::uint32_t kRoom = kBuffer - kHeaderBytes;  // 3732

    ReceiveQueueTest() { me.owns_buffers = true; }

    Enqueued put(ReceiveQueue& queue, std::uint32_t bytes, bool seqpacket = false,
                 std::uint32_t flags = 0) {
        Skb* skb = pool.take();
        for (std::uint32_t i = 0; i < bytes; ++i)
            skb->payload()[i] = static_cast<std::byte>(next_++ % 251);
        skb->len = bytes;
        skb->flags = flags;
        const Enqueued how = queue.enqueue(*skb, seqpacket, me);
        if (how == Enqueued::refused) pool.free(*skb, me);
        return how;
    }
    // Takes up to `size` bytes and checks that they continue the sequence.
    std::uint32_t get(ReceiveQueue& queue, std::uint32_t size) {
        std::vector<std::byte> out(size);
        const auto got = queue.dequeue_stream(out.data(), size, 1, me);
        for (std::uint32_t i = 0; i < got.bytes; ++i)
            EXPECT_EQ(out[i], static_cast<std::byte>(expected_++ % 251));
        credit_asked_ = got.update_credit;
        return got.bytes;
    }

    Current me;
    SkbPool pool{2000, kBuffer};
    std::uint32_t next_ = 0;
    std::uint32_t expected_ = 0;
    bool credit_asked_ = false;
};

TEST_F(ReceiveQueueTest, SmallPacketsMergeIntoTheTailAndLargerOnesDoNot) {
    ReceiveQueue queue(pool, 262144);
    EXPECT_EQ(put(queue, 128), Enqueued::queued);
    EXPECT_EQ(put(queue, 128), Enqueued::merged);
    EXPECT_EQ(put(queue, 129), Enqueued::queued);
    EXPECT_EQ(put(queue, 1), Enqueued::merged);
    EXPECT_EQ(queue.packets(), 2U);
    EXPECT_EQ(queue.bytes(), 386U);
    EXPECT_EQ(me.counts.merged_packets, 2U);
    EXPECT_EQ(get(queue, 1000), 386U);
    EXPECT_EQ(queue.packets(), 0U);
}

TEST_F(ReceiveQueueTest, MergingStopsWhenTheTailIsFull) {
    ReceiveQueue queue(pool, 262144);
    std::uint32_t packets = 0;
    while (queue.packets() < 2) {
        put(queue, 128);
        ++packets;
    }
    // As the kernel, a packet that would fill the tail exactly is queued on its own.
    EXPECT_EQ(packets - 1, (kRoom - 1) / 128);
    EXPECT_EQ(get(queue, 262144), packets * 128);
}

TEST_F(ReceiveQueueTest, MergesIntoATailThatIsPartlyRead) {
    ReceiveQueue queue(pool, 262144);
    put(queue, 100);
    EXPECT_EQ(get(queue, 40), 40U);
    EXPECT_EQ(put(queue, 50), Enqueued::merged);
    EXPECT_EQ(get(queue, 1000), 110U);
}

TEST_F(ReceiveQueueTest, NothingBeyondBufAllocAndCreditNeverNegative) {
    ReceiveQueue queue(pool, 1000);
    EXPECT_EQ(put(queue, 600), Enqueued::queued);
    EXPECT_FALSE(queue.has_room(401));
    EXPECT_TRUE(queue.has_room(400));
    EXPECT_EQ(put(queue, 401), Enqueued::refused);
    EXPECT_EQ(queue.buf_used(), 600U);
    next_ = 600;
    EXPECT_EQ(put(queue, 400), Enqueued::queued);
    EXPECT_EQ(queue.buf_used(), 1000U);
    EXPECT_EQ(put(queue, 1), Enqueued::refused);
    next_ = 1000;
    EXPECT_EQ(get(queue, 10), 10U);
    EXPECT_EQ(queue.buf_used(), 990U);  // a half-read packet holds only what is unread
    EXPECT_EQ(put(queue, 10), Enqueued::merged);
}

TEST_F(ReceiveQueueTest, AFullBudgetCollapsesAndKeepsEveryByte) {
    ReceiveQueue queue(pool, 262144);
    const std::uint32_t limit = ReceiveQueue::packet_limit(262144);
    EXPECT_EQ(limit, 262144U / 576);
    for (std::uint32_t i = 0; i < limit; ++i)
        ASSERT_EQ(put(queue, 200), Enqueued::queued);
    EXPECT_FALSE(queue.has_room(200));
    EXPECT_EQ(get(queue, 150), 150U);  // the head is partly read when it is collapsed
    ASSERT_EQ(put(queue, 200), Enqueued::queued);
    EXPECT_EQ(me.counts.collapses, 1U);
    EXPECT_LE(queue.packets(), 200 * limit / ReceiveQueue::kCollapsedBytes + 2);
    while (queue.bytes() + 200 <= 262144)
        ASSERT_NE(put(queue, 200), Enqueued::refused);
    const std::uint32_t left = queue.bytes();
    EXPECT_EQ(get(queue, 262144), left);
    EXPECT_EQ(queue.buf_used(), 0U);
}

TEST_F(ReceiveQueueTest, ATinyBufferStillHoldsSomePackets) {
    EXPECT_EQ(ReceiveQueue::packet_limit(1), ReceiveQueue::kLeastPackets);
    ReceiveQueue queue(pool, 3000);
    for (std::uint32_t i = 0; i < 16; ++i)
        ASSERT_EQ(put(queue, 150), Enqueued::queued);
    EXPECT_EQ(put(queue, 150), Enqueued::queued);
    EXPECT_EQ(me.counts.collapses, 1U);
    EXPECT_EQ(get(queue, 3000), 17 * 150U);
}

TEST_F(ReceiveQueueTest, EmptyStreamPacketsLeaveNothingBehind) {
    ReceiveQueue queue(pool, 1000);
    for (int i = 0; i < 5000; ++i)
        ASSERT_EQ(put(queue, 0), Enqueued::merged);
    EXPECT_EQ(queue.packets(), 0U);
}

TEST_F(ReceiveQueueTest, PeerIsToldWhenItsViewIsShortOrTheQueueIsLow) {
    ReceiveQueue queue(pool, 262144);
    for (int i = 0; i < 80; ++i)
        put(queue, 3000);  // 240000 bytes
    get(queue, 196608);
    EXPECT_FALSE(credit_asked_);  // 64 KiB of view are left exactly
    get(queue, 1);
    EXPECT_TRUE(credit_asked_);
    EXPECT_EQ(queue.tell_fwd_cnt(), 196609U);
    get(queue, 1000);
    EXPECT_FALSE(credit_asked_);
    get(queue, 240000 - 196609 - 1000);
    EXPECT_TRUE(credit_asked_);  // empty: below SO_RCVLOWAT
}

TEST_F(ReceiveQueueTest, MessagesKeepTheirBoundaries) {
    ReceiveQueue queue(pool, 262144);
    put(queue, 100, true);                   // first part
    put(queue, 50, true, kSeqEom);           // merged: ends the message
    put(queue, 60, true, kSeqEom);           // must not merge into a finished message
    put(queue, 0, true, kSeqEom | kSeqEor);  // an empty message
    put(queue, 70, true);                    // unfinished
    EXPECT_EQ(queue.messages(), 3U);
    std::vector<std::byte> out(1000);
    auto got = queue.dequeue_message(out.data(), 1000, me);
    EXPECT_TRUE(got.message);
    EXPECT_EQ(got.bytes, 150U);
    got = queue.dequeue_message(out.data(), 10, me);  // truncated
    EXPECT_EQ(got.bytes, 10U);
    EXPECT_EQ(got.message_bytes, 60U);
    EXPECT_FALSE(got.end_of_record);
    got = queue.dequeue_message(out.data(), 10, me);
    EXPECT_TRUE(got.message);
    EXPECT_EQ(got.message_bytes, 0U);
    EXPECT_TRUE(got.end_of_record);
    got = queue.dequeue_message(out.data(), 1000, me);
    EXPECT_FALSE(got.message);
    EXPECT_EQ(queue.buf_used(), 70U);
}

TEST_F(ReceiveQueueTest, CollapseNeverJoinsMessages) {
    ReceiveQueue queue(pool, 20000);
    const std::uint32_t limit = ReceiveQueue::packet_limit(20000);
    for (std::uint32_t i = 0; i < limit - 2; ++i)
        put(queue, 200, true, kSeqEom);
    put(queue, 200, true);
    put(queue, 200, true);
    EXPECT_EQ(put(queue, 200, true, kSeqEom), Enqueued::queued);  // the two parts joined
    EXPECT_EQ(put(queue, 200, true, kSeqEom), Enqueued::queued);  // and the end of their message
    EXPECT_EQ(queue.messages(), limit);
    EXPECT_EQ(queue.packets(), limit);
    EXPECT_EQ(put(queue, 200, true, kSeqEom), Enqueued::refused);  // nothing left to join
    std::vector<std::byte> out(1000);
    for (std::uint32_t i = 0; i < limit - 2; ++i)
        EXPECT_EQ(queue.dequeue_message(out.data(), 1000, me).bytes, 200U);
    EXPECT_EQ(queue.dequeue_message(out.data(), 1000, me).bytes, 600U);
}

TEST_F(ReceiveQueueTest, EveryBufferReturnsToThePool) {
    {
        ReceiveQueue queue(pool, 262144);
        for (int i = 0; i < 900; ++i)
            put(queue, 200);
        queue.purge(me);
        EXPECT_EQ(queue.packets(), 0U);
    }
    std::size_t free = 0;
    while (pool.take() != nullptr)
        ++free;
    EXPECT_EQ(free, pool.size());
}

}  // namespace
}  // namespace vsb::engine
