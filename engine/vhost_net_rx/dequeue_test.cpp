#include "engine/vhost_net_rx/dequeue.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <set>
#include <string>

#include "engine/vhost_net_rx/packet_pool.h"

namespace vsb::engine::vhost_net_rx {
namespace {

struct Got {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> packets;  // sequence, length peeked at
    std::uint64_t locks = 0;
    std::uint64_t empty = 0;
    std::vector<std::uint64_t> sizes;
    std::uint64_t outstanding = 0;
};

using Make = std::function<std::unique_ptr<Dequeue>(PtrRing<Packet>&)>;

// Bursts of packets in, as many as fit; up to so many taken after each; the rest at the end.
Got play(const Make& make, std::size_t ring_size,
         const std::vector<std::pair<std::uint32_t, std::uint32_t>>& bursts) {
    Got got;
    PtrRing<Packet> ring(ring_size);
    PacketPool pool(ring_size + 256 + 2, 64);
    const auto dequeue = make(ring);
    std::uint64_t sequence = 0;
    const auto take = [&] {
        const std::uint32_t length = dequeue->peek_length();
        if (length == 0) {
            ++got.empty;
            return false;
        }
        Packet* const packet = dequeue->take();
        got.packets.emplace_back(packet->sequence, length);
        EXPECT_EQ(length, packet->length);
        pool.put(packet);
        return true;
    };
    const auto offer = [&](std::uint64_t n) {
        Packet* const packet = pool.take();
        ASSERT_NE(packet, nullptr);
        packet->sequence = n;
        packet->length = static_cast<std::uint32_t>(1 + n * 7 % 64);
        while (!ring.produce(packet))
            ASSERT_TRUE(take());
    };
    for (const auto& [in, out] : bursts) {
        for (std::uint32_t i = 0; i < in; ++i)
            offer(sequence++);
        for (std::uint32_t i = 0; i < out && take();)
            ++i;
    }
    while (take()) {
    }
    got.locks = ring.consumer_counts().acquisitions;
    got.sizes = dequeue->batch_sizes();
    got.outstanding = pool.outstanding();
    return got;
}

std::uint64_t packets_in(const std::vector<std::uint64_t>& sizes) {
    std::uint64_t n = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i)
        n += i * sizes[i];
    return n;
}

RC_GTEST_PROP(Dequeue, EveryPolicyDeliversTheSamePacketsInTheSameOrder, ()) {
    const auto size = *rc::gen::inRange<std::size_t>(2, 300);
    const auto batch = *rc::gen::inRange<std::size_t>(1, 257);
    const auto bursts = *rc::gen::container<std::vector<std::pair<std::uint32_t, std::uint32_t>>>(
        rc::gen::pair(rc::gen::inRange(0U, 300U), rc::gen::inRange(0U, 300U)));
    std::uint64_t sent = 0;
    for (const auto& burst : bursts)
        sent += burst.first;

    const Got per_skb = play(make_per_skb, size, bursts);
    const Got noop = play(make_noop, size, bursts);
    const Got batched =
        play([&](PtrRing<Packet>& ring) { return make_batch(ring, batch); }, size, bursts);
    RC_ASSERT(per_skb.packets.size() == sent);
    for (std::uint64_t i = 0; i < sent; ++i) {
        RC_ASSERT(per_skb.packets[i].first == i);
        RC_ASSERT(per_skb.packets[i].second == 1 + i * 7 % 64);
    }
    RC_ASSERT(noop.packets == per_skb.packets);
    RC_ASSERT(batched.packets == per_skb.packets);
    for (const Got* got : {&per_skb, &noop, &batched}) {
        RC_ASSERT(packets_in(got->sizes) == sent);
        RC_ASSERT(got->outstanding == 0U);
    }
    // Locks, exactly: peek and consume each packet; one a refill; none.
    std::uint64_t refills = 0;
    for (const std::uint64_t times : batched.sizes)
        refills += times;
    RC_ASSERT(per_skb.locks == 2 * sent + per_skb.empty);
    RC_ASSERT(batched.locks == refills + batched.empty);
    RC_ASSERT(batched.sizes.size() == batch + 1);
    RC_ASSERT(noop.locks == 0U);
}

TEST(Dequeue, AFullRingIsTakenInCeilOfPacketsOverBatchLocks) {
    for (const std::size_t batch : {1U, 4U, 16U, 64U, 256U}) {
        const Got got =
            play([&](PtrRing<Packet>& ring) { return make_batch(ring, batch); }, 500, {{500, 0}});
        EXPECT_EQ(got.locks, (500 + batch - 1) / batch + 1);
        EXPECT_EQ(got.sizes[batch], 500 / batch);
    }
}

TEST(PacketPool, GivesEachPacketToOneAndWhatWasFreedOnceItsOwnListIsEmpty) {
    PacketPool pool(4, 64);
    std::set<Packet*> taken;
    for (int i = 0; i < 4; ++i)
        taken.insert(pool.take());
    EXPECT_EQ(taken.size(), 4U);
    EXPECT_EQ(taken.count(nullptr), 0U);
    EXPECT_EQ(pool.take(), nullptr);
    EXPECT_EQ(pool.outstanding(), 4U);
    Packet* const first = *taken.begin();
    Packet* const second = *taken.rbegin();
    pool.put(first);
    pool.put(second);
    EXPECT_EQ(pool.outstanding(), 2U);
    EXPECT_EQ(pool.take(), second);  // the newest first
    pool.untake(second);
    EXPECT_EQ(pool.take(), second);
    EXPECT_EQ(pool.take(), first);
    EXPECT_EQ(pool.take(), nullptr);
    EXPECT_EQ(pool.outstanding(), 4U);
    for (Packet* const packet : taken)
        pool.put(packet);
    EXPECT_EQ(pool.outstanding(), 0U);
}

TEST(Dequeue, StopPutsBackWhatWasNotServedAndFreesWhatFindsNoRoom) {
    PtrRing<Packet> ring(8);
    PacketPool pool(64, 64);
    const auto dequeue = make_batch(ring, 6);
    std::uint64_t sequence = 0;
    const auto fill = [&] {
        for (;;) {
            Packet* const packet = pool.take();
            packet->sequence = sequence;
            packet->length = 1;
            if (!ring.produce(packet)) {
                pool.untake(packet);
                return;
            }
            ++sequence;
        }
    };
    const auto put = [&](Packet* packet) { pool.put(packet); };
    fill();
    ASSERT_EQ(dequeue->peek_length(), 1U);
    pool.put(dequeue->take());  // 5 of 6 are left, and the ring holds 2
    EXPECT_EQ(dequeue->stop(put).put_back, 5U);
    ASSERT_EQ(dequeue->peek_length(), 1U);
    Packet* const again = dequeue->take();
    EXPECT_EQ(again->sequence, 1U);
    pool.put(again);
    fill();  // 5 in hand, 7 in the ring: one slot is left
    const Dequeue::Left left = dequeue->stop(put);
    EXPECT_EQ(left.freed + left.put_back, 5U);
    EXPECT_GT(left.freed, 0U);
    ring.cleanup(put);
    EXPECT_EQ(pool.outstanding(), 0U);
}

}  // namespace
}  // namespace vsb::engine::vhost_net_rx
