#include "engine/vhost_net_rx/ptr_ring.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <deque>
#include <thread>
#include <vector>

namespace vsb::engine::vhost_net_rx {
namespace {

// Heap items, so that AddressSanitizer sees one that is lost or freed twice.
using Item = std::uint64_t;

std::size_t held_back_at_most(std::size_t size) {
    return size / 2 < 16 ? 0 : 15;
}

// Any mix of calls gives what a queue gives. Slots that were consumed but not handed back yet are
// the one difference: the ring may be full that much earlier, never when it is empty.
RC_GTEST_PROP(PtrRing, IsAQueueUnderAnyMixOfCalls, ()) {
    const auto size = *rc::gen::inRange<std::size_t>(1, 80);
    PtrRing<Item> ring(size);
    std::deque<Item> model;
    Item next = 0;
    std::vector<Item*> last;  // what the last consume_batched() gave, while nothing came since
    const auto steps = *rc::gen::container<std::vector<std::pair<unsigned, std::size_t>>>(
        rc::gen::pair(rc::gen::inRange(0U, 8U), rc::gen::inRange<std::size_t>(1, 100)));
    const auto forget = [&] {
        for (Item* item : last)
            delete item;
        last.clear();
    };
    for (const auto& [kind, n] : steps) {
        if (kind < 3) {
            for (std::size_t i = 0; i < n; ++i) {
                auto* const item = new Item(next);
                if (!ring.produce(item)) {
                    delete item;
                    RC_ASSERT(model.size() + held_back_at_most(size) >= size);
                    RC_ASSERT(!model.empty());
                    break;
                }
                model.push_back(next++);
                RC_ASSERT(model.size() <= size);
            }
        } else if (kind < 5) {
            forget();
            const Item* const head = ring.peek_unlocked();
            RC_ASSERT((head == nullptr) == model.empty());
            Item* const item = ring.consume();
            RC_ASSERT(item == head);
            if (item != nullptr) {
                RC_ASSERT(*item == model.front());
                model.pop_front();
                delete item;
            }
        } else if (kind < 7) {
            forget();
            last.resize(n);
            last.resize(ring.consume_batched(last));
            RC_ASSERT(last.size() == std::min(n, model.size()));
            for (const Item* item : last) {
                RC_ASSERT(*item == model.front());
                model.pop_front();
            }
        } else {
            // What was consumed goes back in front; the oldest are destroyed where there is no
            // room.
            const std::size_t before = last.size();
            std::vector<Item> values;
            for (const Item* item : last)
                values.push_back(*item);
            const std::size_t destroyed = ring.unconsume(last, [](Item* item) { delete item; });
            last.clear();
            RC_ASSERT(destroyed <= before);
            RC_ASSERT(destroyed == 0 || model.size() + before - destroyed == size);
            for (std::size_t i = before; i > destroyed; --i)
                model.push_front(values[i - 1]);
        }
    }
    forget();
    const std::size_t left = ring.cleanup([](Item* item) { delete item; });
    RC_ASSERT(left == model.size());
}

TEST(PtrRing, AShortCountDoesNotMeanEmpty) {
    PtrRing<Item> ring(8);
    Item items[3] = {0, 1, 2};
    Item* got[8];
    ring.produce(&items[0]);
    EXPECT_EQ(ring.consume_batched(got), 1U);
    ring.produce(&items[1]);
    EXPECT_EQ(ring.consume_batched(got), 1U);
    EXPECT_EQ(got[0], &items[1]);
    EXPECT_EQ(ring.consume_batched(got), 0U);
}

TEST(PtrRing, ConsumedSlotsAreHandedBackALineAtATime) {
    PtrRing<Item> ring(64);
    std::vector<Item> items(64);
    for (auto& item : items)
        EXPECT_TRUE(ring.produce(&item));
    for (int i = 0; i < 15; ++i)
        ring.consume();
    EXPECT_FALSE(ring.produce(items.data()));
    ring.consume();
    for (int i = 0; i < 16; ++i)
        EXPECT_TRUE(ring.produce(items.data()));
    EXPECT_FALSE(ring.produce(items.data()));
}

TEST(PtrRing, EveryCallTakesItsLockOnce) {
    PtrRing<Item> ring(8);
    Item item = 0;
    Item* got[8];
    ring.produce(&item);
    ring.produce(&item);
    ring.consume();
    ring.consume_batched(got);
    ring.consume_batched(got);
    EXPECT_EQ(ring.producer_counts().acquisitions, 2U);
    EXPECT_EQ(ring.consumer_counts().acquisitions, 3U);
    EXPECT_EQ(ring.consumer_counts().contended, 0U);
}

// Two producers and two consumers: everything arrives once, and each producer's items in order.
TEST(PtrRing, TwoProducersAndTwoConsumersLoseAndRepeatNothing) {
    constexpr Item kEach = 20'000;
    PtrRing<Item> ring(33);
    std::vector<Item> items(2 * kEach);
    for (Item i = 0; i < 2 * kEach; ++i)
        items[i] = i;
    std::atomic<Item> taken{0};
    std::vector<Item> seen[2];
    std::vector<std::thread> threads;
    for (Item p = 0; p < 2; ++p) {
        threads.emplace_back([&, p] {
            for (Item i = 0; i < kEach; ++i) {
                while (!ring.produce(&items[p * kEach + i]))
                    std::this_thread::yield();
            }
        });
        threads.emplace_back([&, p] {
            std::vector<Item*> got(p == 0 ? 1 : 7);
            while (taken.load() < 2 * kEach) {
                const std::size_t n = ring.consume_batched(got);
                for (std::size_t i = 0; i < n; ++i)
                    seen[p].push_back(*got[i]);
                taken += n;
                if (n == 0) std::this_thread::yield();
            }
        });
    }
    for (auto& thread : threads)
        thread.join();
    std::vector<int> times(2 * kEach);
    for (const auto& one : seen) {
        Item last[2] = {0, 0};
        for (const Item item : one) {
            ++times[item];
            EXPECT_GE(item, last[item / kEach]);
            last[item / kEach] = item;
        }
    }
    EXPECT_EQ(std::count(times.begin(), times.end(), 1), 2 * static_cast<long>(kEach));
}

}  // namespace
}  // namespace vsb::engine::vhost_net_rx
