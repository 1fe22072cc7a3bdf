#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <thread>
#include <vector>

#include "engine/ring/device_queue.h"
#include "engine/ring/driver_queue.h"
#include "engine/sync/spinlock.h"

namespace vsb::engine {
namespace {

class Queue {
  public:
    explicit Queue(std::uint16_t size, bool event_idx = true, std::uint16_t first = 0)
        : memory_(Vring::bytes(size) + 64),
          ring(Vring::over(aligned(), size, event_idx)),
          driver(ring, first),
          device(ring, first) {}

  private:
    std::byte* aligned() {
        const auto at = reinterpret_cast<std::uintptr_t>(memory_.data());
        return memory_.data() + ((at + 63) / 64 * 64 - at);
    }
    std::vector<std::byte> memory_;

  public:
    Vring ring;
    DriverQueue driver;
    DeviceQueue device;
};

TEST(Virtqueue, LayoutIsThatOfTheSpecification) {
    Queue q(8);
    std::byte buffer[100];
    int token = 0;
    ASSERT_TRUE(q.driver.add(&token, buffer, sizeof buffer, true));
    EXPECT_EQ(q.ring.avail[1], 1);  // idx after flags
    const std::uint16_t head = q.ring.avail[2];
    EXPECT_EQ(q.ring.desc[head].addr, reinterpret_cast<std::uint64_t>(buffer));
    EXPECT_EQ(q.ring.desc[head].len, 100U);
    EXPECT_EQ(q.ring.desc[head].flags, 2);
    DeviceQueue::Buffer taken;
    ASSERT_TRUE(q.device.pop(taken));
    q.device.push(taken.head, 77);
    EXPECT_EQ(q.ring.used[1], 1);
    std::uint32_t id_len[2];
    std::memcpy(id_len, q.ring.used + 2, sizeof id_len);
    EXPECT_EQ(id_len[0], head);
    EXPECT_EQ(id_len[1], 77U);
    EXPECT_EQ(&q.ring.avail[2 + 8], &q.ring.avail[10]);  // used_event follows the ring
}

TEST(Virtqueue, IndicesWrapAtTwoToTheSixteenAndNothingIsLost) {
    Queue q(16, true, 65530);
    std::array<int, 70000> tokens{};
    std::byte byte{};
    std::size_t returned = 0;
    for (std::size_t sent = 0; sent < tokens.size(); ++sent) {
        ASSERT_TRUE(q.driver.add(&tokens[sent], &byte, 1, true));
        DeviceQueue::Buffer buffer;
        ASSERT_TRUE(q.device.pop(buffer));
        ASSERT_FALSE(q.device.more_avail());
        q.device.push(buffer.head, static_cast<std::uint32_t>(sent));
        std::uint32_t len = 0;
        ASSERT_EQ(q.driver.get_buf(len), &tokens[sent]);
        ASSERT_EQ(len, sent);
        ++returned;
    }
    EXPECT_EQ(returned, 70000U);
    EXPECT_EQ(q.driver.bad_ids(), 0U);
}

TEST(Virtqueue, FullRingRefusesAndReusesEntriesInAnyOrder) {
    Queue q(4, true, 65534);
    std::array<int, 4> tokens{};
    std::byte byte{};
    for (auto& token : tokens)
        ASSERT_TRUE(q.driver.add(&token, &byte, 1, true));
    EXPECT_FALSE(q.driver.add(&tokens[0], &byte, 1, true));
    EXPECT_EQ(q.driver.free_entries(), 0);
    std::array<DeviceQueue::Buffer, 4> taken;
    for (auto& buffer : taken)
        ASSERT_TRUE(q.device.pop(buffer));
    // Used out of order: 2 first.
    q.device.push(taken[2].head, 2);
    std::uint32_t len = 0;
    EXPECT_EQ(q.driver.get_buf(len), &tokens[2]);
    EXPECT_EQ(q.driver.get_buf(len), nullptr);
    EXPECT_TRUE(q.driver.add(&tokens[2], &byte, 1, true));
}

TEST(Virtqueue, ForeignUsedIdsAreSkippedAndCounted) {
    Queue q(4);
    int token = 0;
    std::byte byte{};
    ASSERT_TRUE(q.driver.add(&token, &byte, 1, true));
    DeviceQueue::Buffer buffer;
    ASSERT_TRUE(q.device.pop(buffer));
    q.device.push(200, 1);                                          // no such entry
    q.device.push(static_cast<std::uint16_t>(buffer.head ^ 1), 1);  // never posted
    q.device.push(buffer.head, 1);
    std::uint32_t len = 0;
    EXPECT_EQ(q.driver.get_buf(len), &token);
    EXPECT_EQ(q.driver.bad_ids(), 2U);
}

class VirtqueueEvents : public testing::TestWithParam<bool> {};

TEST_P(VirtqueueEvents, InterruptOnlyWhenAskedForAndOncePerBurst) {
    Queue q(8, GetParam(), 65533);
    std::array<int, 8> tokens{};
    std::byte byte{};
    for (auto& token : tokens)
        ASSERT_TRUE(q.driver.add(&token, &byte, 1, true));
    DeviceQueue::Buffer buffer;
    const auto use = [&] {
        ASSERT_TRUE(q.device.pop(buffer));
        q.device.push(buffer.head, 1);
    };
    std::uint32_t len = 0;

    EXPECT_FALSE(q.device.signal_needed());  // nothing pushed
    ASSERT_TRUE(q.driver.enable_cb());
    use();
    use();
    EXPECT_TRUE(q.device.signal_needed());
    EXPECT_FALSE(q.device.signal_needed());

    q.driver.disable_cb();
    use();
    EXPECT_FALSE(q.device.signal_needed());
    for (int i = 0; i < 3; ++i)
        ASSERT_NE(q.driver.get_buf(len), nullptr);
    // Used before callbacks came on: enable says so instead of an interrupt.
    use();
    EXPECT_FALSE(q.driver.enable_cb());
    ASSERT_NE(q.driver.get_buf(len), nullptr);
    EXPECT_TRUE(q.driver.enable_cb());
    use();
    EXPECT_TRUE(q.device.signal_needed());
    // Disabled with nothing outstanding: the very next entry must not interrupt.
    ASSERT_NE(q.driver.get_buf(len), nullptr);
    q.driver.disable_cb();
    use();
    EXPECT_FALSE(q.device.signal_needed());
}

TEST_P(VirtqueueEvents, KickOnlyWhenAskedFor) {
    Queue q(8, GetParam(), 65533);
    int token = 0;
    std::byte byte{};
    EXPECT_FALSE(q.driver.kick_prepare());
    ASSERT_FALSE(q.device.enable_notify());
    ASSERT_TRUE(q.driver.add(&token, &byte, 1, true));
    EXPECT_TRUE(q.driver.kick_prepare());
    EXPECT_FALSE(q.driver.kick_prepare());
    q.device.disable_notify();
    ASSERT_TRUE(q.driver.add(&token, &byte, 1, true));
    EXPECT_FALSE(q.driver.kick_prepare());
    EXPECT_TRUE(q.device.enable_notify());  // one is there already
}

// Both sides on threads, sleeping only by the suppression protocol: a missed event is a hang.
TEST_P(VirtqueueEvents, NoEventIsLostBetweenThreads) {
    Queue q(4, GetParam(), 65000);
    constexpr std::uint32_t kBuffers = 20000;
    std::vector<int> tokens(kBuffers);
    std::byte byte{};
    std::atomic<std::uint32_t> kicks{0};
    std::atomic<std::uint32_t> interrupts{0};
    std::thread device([&] {
        for (std::uint32_t done = 0; done < kBuffers;) {
            const std::uint32_t seen = kicks.load();
            DeviceQueue::Buffer buffer;
            bool any = false;
            q.device.disable_notify();
            while (q.device.pop(buffer)) {
                q.device.push(buffer.head, ++done);
                any = true;
            }
            if (any && q.device.signal_needed()) {
                interrupts.fetch_add(1);
                interrupts.notify_one();
            }
            if (done < kBuffers && !q.device.enable_notify()) kicks.wait(seen);
        }
    });
    std::uint32_t posted = 0;
    std::uint32_t returned = 0;
    while (returned < kBuffers) {
        const std::uint32_t seen = interrupts.load();
        q.driver.disable_cb();
        std::uint32_t len = 0;
        while (q.driver.get_buf(len) != nullptr)
            ASSERT_EQ(len, ++returned);
        while (posted < kBuffers && q.driver.add(&tokens[posted], &byte, 1, true))
            ++posted;
        if (q.driver.kick_prepare()) {
            kicks.fetch_add(1);
            kicks.notify_one();
        }
        if (returned < kBuffers && q.driver.enable_cb()) interrupts.wait(seen);
    }
    device.join();
}

INSTANTIATE_TEST_SUITE_P(Modes, VirtqueueEvents, testing::Values(true, false),
                         [](const auto& p) { return p.param ? "EventIndex" : "Flags"; });

TEST(Virtqueue, NeedEventAgreesWithItsDefinition) {
    // For every distance: did `event` lie in [old, now)?
    for (std::uint32_t old : {0U, 65530U}) {
        for (std::uint16_t n = 0; n < 20; ++n) {
            for (std::uint16_t e = 0; e < 40; ++e) {
                const auto event = static_cast<std::uint16_t>(old - 10U + e);
                const auto now = static_cast<std::uint16_t>(old + n);
                const bool inside = e >= 10 && e < 10 + n;
                EXPECT_EQ(vring_need_event(event, now, static_cast<std::uint16_t>(old)), inside);
            }
        }
    }
}

}  // namespace
}  // namespace vsb::engine
