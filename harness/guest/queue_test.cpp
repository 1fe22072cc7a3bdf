#include "harness/guest/queue.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "harness/guest/test_ring.h"

namespace vsb::guest {
namespace {

using engine::kDescNext;
using engine::kDescWrite;
using Pop = GuestQueue::Pop;

class Queue : public testing::Test {
  protected:
    Queue() {
        EXPECT_EQ(guest_.add(memory_.region(), memory_.fd()), "");
        EXPECT_TRUE(queue_.start(guest_, driver_.addresses(), 8, 0, true));
    }
    TestMemory memory_;
    TestDriver driver_{memory_, 0, 8};
    GuestMemory guest_;
    GuestQueue queue_;
    Chain chain_;
};

TEST_F(Queue, GivesChainsInOrderAndTakesThemBack) {
    driver_.set(3, 0x10000, 100, kDescNext, 5);
    driver_.set(5, 0x20000, 200, kDescWrite);
    driver_.set(1, 0x30000, 50, kDescWrite);
    EXPECT_EQ(queue_.pop(chain_), Pop::none);
    driver_.post(3);
    driver_.post(1);
    ASSERT_EQ(queue_.pop(chain_), Pop::chain);
    EXPECT_EQ(chain_.head, 3);
    EXPECT_EQ(chain_.readable, 1u);
    EXPECT_EQ(chain_.readable_bytes, 100u);
    EXPECT_EQ(chain_.writable_bytes, 200u);
    ASSERT_EQ(queue_.pop(chain_), Pop::chain);
    EXPECT_EQ(chain_.head, 1);
    queue_.put(3, 7);
    queue_.put(1, 9);
    EXPECT_EQ(driver_.used_index(), 0);  // not before publish()
    queue_.publish();
    EXPECT_EQ(driver_.used_index(), 2);
    EXPECT_EQ(driver_.used_element(0).id, 3u);
    EXPECT_EQ(driver_.used_element(1).len, 9u);
}

TEST_F(Queue, IndicesWrapAtTwoToTheSixteen) {
    driver_.set(2, 0x10000, 64, kDescWrite);
    for (std::uint32_t i = 0; i < 70'000; ++i) {
        driver_.post(2);
        ASSERT_EQ(queue_.pop(chain_), Pop::chain) << i;
        queue_.put(chain_.head, i);
        queue_.publish();
        ASSERT_EQ(driver_.used_index(), static_cast<std::uint16_t>(i + 1));
        ASSERT_EQ(driver_.used_element(static_cast<std::uint16_t>(i)).len, i);
    }
}

TEST_F(Queue, SignalsOnlyWhenAsked) {
    driver_.set(0, 0x10000, 64, kDescWrite);
    driver_.avail(2 + 8) = 1;  // used_event: after the second
    for (int i = 0; i < 3; ++i) {
        driver_.post(0);
        ASSERT_EQ(queue_.pop(chain_), Pop::chain);
        queue_.put(0, 1);
        queue_.publish();
        EXPECT_EQ(queue_.signal_needed(), i == 1) << i;
        EXPECT_FALSE(queue_.signal_needed());
    }
}

TEST_F(Queue, AsksForAKickAndSeesWhatCameInBetween) {
    EXPECT_FALSE(queue_.enable_notify());
    driver_.set(0, 0x10000, 64, kDescWrite);
    driver_.post(0);
    EXPECT_TRUE(queue_.enable_notify());
}

struct Rule {
    const char* name;
    void (*breaks)(TestDriver&);
};

class BrokenRing : public testing::TestWithParam<Rule> {};

TEST_P(BrokenRing, IsBrokenForGood) {
    TestMemory memory;
    TestDriver driver(memory, 0, 8);
    GuestMemory guest;
    ASSERT_EQ(guest.add(memory.region(), memory.fd()), "");
    GuestQueue queue;
    ASSERT_TRUE(queue.start(guest, driver.addresses(), 8, 0, true));
    GetParam().breaks(driver);
    Chain chain;
    EXPECT_EQ(queue.pop(chain), Pop::broken);
    EXPECT_FALSE(queue.running());
    driver.set(0, 0x10000, 64, kDescWrite);
    driver.post(0);
    EXPECT_EQ(queue.pop(chain), Pop::broken);
    queue.put(0, 0);
    queue.publish();
    EXPECT_EQ(driver.used_index(), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, BrokenRing,
    testing::Values(Rule{"HeadOutside", [](TestDriver& d) { d.post(8); }},
                    Rule{"IndexTooFar", [](TestDriver& d) { d.avail(1) = 9; }},
                    Rule{"NextOutside",
                         [](TestDriver& d) {
                             d.set(0, 0, 1, kDescNext, 8);
                             d.post(0);
                         }},
                    Rule{"Circle",
                         [](TestDriver& d) {
                             d.set(0, 0, 1, kDescNext, 0);
                             d.post(0);
                         }},
                    Rule{"AddressOutside",
                         [](TestDriver& d) {
                             d.set(0, TestMemory::kSize, 1, kDescWrite);
                             d.post(0);
                         }},
                    Rule{"LengthOutside",
                         [](TestDriver& d) {
                             d.set(0, TestMemory::kSize - 10, 11, kDescWrite);
                             d.post(0);
                         }},
                    Rule{"LengthOverflows",
                         [](TestDriver& d) {
                             d.descriptor(0) = {~std::uint64_t{0} - 5, 100, kDescWrite, 0};
                             d.post(0);
                         }},
                    Rule{"EmptyDescriptor",
                         [](TestDriver& d) {
                             d.set(0, 0, 0, kDescWrite);
                             d.post(0);
                         }},
                    Rule{"Indirect",
                         [](TestDriver& d) {
                             d.set(0, 0x1000, 16, 4);
                             d.post(0);
                         }},
                    Rule{"ReadableAfterWritable",
                         [](TestDriver& d) {
                             d.set(0, 0, 8, kDescWrite | kDescNext, 1);
                             d.set(1, 0, 8, 0);
                             d.post(0);
                         }}),
    [](const auto& each) { return each.param.name; });

TEST(QueueStart, RefusesRingsThatDoNotFit) {
    TestMemory memory;
    GuestMemory guest;
    ASSERT_EQ(guest.add(memory.region(), memory.fd()), "");
    const RingAddresses good = TestDriver(memory, 0, 8).addresses();
    GuestQueue queue;
    for (const int bad_size : {0, 3, 2048}) {
        const auto size = static_cast<std::uint16_t>(bad_size);
        EXPECT_FALSE(queue.start(guest, good, size, 0, true)) << size;
    }
    for (int part = 0; part < 3; ++part) {
        for (const std::uint64_t bad :
             {std::uint64_t{0}, TestMemory::kUserBase + TestMemory::kSize - 4, ~std::uint64_t{0},
              TestMemory::kUserBase + 1}) {
            RingAddresses addresses = good;
            (part == 0   ? addresses.descriptors
             : part == 1 ? addresses.avail
                         : addresses.used) = bad;
            EXPECT_FALSE(queue.start(guest, addresses, 8, 0, true)) << part << ' ' << bad;
        }
    }
    EXPECT_TRUE(queue.start(guest, good, 8, 0, true));
}

TEST(Copying, CrossesSegmentsAtAnyOffset) {
    std::array<std::byte, 30> memory{};
    Chain chain;
    chain.readable = 3;
    chain.segments[0] = {memory.data(), 5};
    chain.segments[1] = {memory.data() + 10, 1};
    chain.segments[2] = {memory.data() + 20, 10};
    for (std::size_t i = 0; i < memory.size(); ++i)
        memory[i] = static_cast<std::byte>(i);
    std::array<std::byte, 16> out{};
    ASSERT_EQ(gather(chain, 4, out.data(), 5), 5u);
    EXPECT_EQ(std::to_integer<int>(out[0]), 4);
    EXPECT_EQ(std::to_integer<int>(out[1]), 10);
    EXPECT_EQ(std::to_integer<int>(out[2]), 20);
    EXPECT_EQ(gather(chain, 0, out.data(), 100), 16u);
    EXPECT_EQ(gather(chain, 16, out.data(), 1), 0u);
    chain.writable = 3;
    chain.readable = 0;
    EXPECT_EQ(scatter(chain, 5, out.data(), 3), 3u);
    EXPECT_EQ(std::to_integer<int>(memory[10]), 0);
    EXPECT_EQ(std::to_integer<int>(memory[20]), 1);
}

}  // namespace
}  // namespace vsb::guest
