// The device, the rings and the worker together, stepped on one thread.

#include "engine/vsock/device.h"

#include <gtest/gtest.h>

#include "engine/vsock/machine.h"

namespace vsb::engine {
namespace {

struct Stepper {
    Stepper(std::uint64_t payload, std::uint64_t writes, const VsockRxParameters& p = {},
            std::string_view policy = "deferred-notify")
        : pattern(1),
          sender(pattern, payload, writes),
          machine(p, *find_policy(policy), sender, pattern, {payload * writes, 0, 65536},
                  Device::kBufAlloc, false),
          expected(pattern) {
        me.owns_buffers = true;
    }
    // One round: the device fills what is posted, the worker drains it.
    bool step() {
        const bool progress = machine.device().run(me);
        if (machine.worker().pending()) machine.worker().run(me);
        return progress;
    }
    std::uint32_t read(std::uint32_t size) {
        out.resize(std::max<std::size_t>(out.size(), size));
        const auto got =
            recv_stream(machine.context(), machine.socket(), out.data(), size, true, me);
        EXPECT_TRUE(expected.matches(out.data(), got.bytes));
        ended = got.status == RecvStatus::end_of_stream;
        return got.bytes;
    }
    Pattern pattern;
    Sender sender;
    Machine machine;
    PatternCursor expected;
    std::vector<std::byte> out;
    Current me;
    bool ended = false;
};

TEST(Device, AWriteOfFourKiBBecomesTwoPackets) {
    Stepper s(4096, 1);
    s.step();
    EXPECT_EQ(s.me.counts.packets, 3U);  // 3732 + 364 and the SHUTDOWN
    EXPECT_EQ(s.me.counts.used_publications, 3U);
    EXPECT_EQ(s.machine.socket().rx.packets(), 2U);
    EXPECT_EQ(s.read(4096), 4096U);
}

TEST(Device, NeverSendsBeyondTheCreditAndUsesAllOfIt) {
    for (const std::uint32_t buf_alloc : {1U, 100U, 5000U, 262144U}) {
        VsockRxParameters p;
        p.buf_alloc = buf_alloc;
        Stepper s(1000, 1000, p);
        while (s.step()) {
        }
        EXPECT_EQ(s.machine.device().bytes_sent(), std::min(buf_alloc, 1000000U));
        EXPECT_EQ(s.me.counts.drops_receive_limit, 0U);
        EXPECT_EQ(s.me.counts.credit_waits, 1U);
        EXPECT_EQ(s.read(1), 1U);
        while (s.step()) {
        }
        EXPECT_LE(s.machine.socket().rx.buf_used(), buf_alloc);
    }
}

TEST(Device, WholeTransfersForManyShapesAndAcrossTheIndexWrap) {
    for (const auto& policy : policy_table()) {
        if (policy.name == "noop") continue;
        for (const std::uint64_t payload :
             {1ULL, 64ULL, 129ULL, 3732ULL, 3733ULL, 65536ULL, 200000ULL}) {
            for (const std::uint16_t ring : {std::uint16_t{2}, std::uint16_t{128}}) {
                VsockRxParameters p;
                p.ring_size = ring;
                p.first_index = 65500;
                p.event_idx = payload % 2 == 0;
                Stepper s(payload, 200 + 2000 / payload, p, policy.name);
                std::uint64_t got = 0;
                for (int idle = 0; idle < 3 && !s.ended;) {
                    const bool progress = s.step();
                    const std::uint32_t n = s.read(30000);
                    got += n;
                    idle = progress || n != 0 ? 0 : idle + 1;
                }
                EXPECT_TRUE(s.ended);
                EXPECT_EQ(got, payload * (200 + 2000 / payload)) << policy.name << " " << payload;
            }
        }
    }
}

TEST(Device, NothingIsHeldWhenTheRingIsEmpty) {
    for (const auto& policy : policy_table()) {
        Stepper s(300, 10, {}, policy.name);
        s.machine.device().run(s.me);
        s.machine.worker().run(s.me);
        EXPECT_FALSE(s.machine.socket().lock.owned()) << policy.name;
    }
    // Not even when the SHUTDOWN is still to come.
    Stepper s(300, 1000);
    s.step();
    EXPECT_FALSE(s.machine.socket().lock.owned());
    VsockRxParameters p;
    p.limits.max_pkts = 100;
    Stepper partial(300, 1000, p);
    partial.step();
    EXPECT_FALSE(partial.machine.socket().lock.owned());
    EXPECT_EQ(partial.me.counts.batch_ends[static_cast<std::size_t>(BatchEnd::ring_empty)], 1U);
    EXPECT_EQ(partial.machine.policy().batch_sizes()[28], 1U);
}

TEST(Device, SeesAGuestThatBreaksTheConnection) {
    Stepper s(100, 100000);
    s.step();
    s.machine.socket().hold();
    close(s.machine.context(), s.machine.socket(), s.me);
    s.step();
    EXPECT_TRUE(s.machine.device().closed());
    EXPECT_TRUE(s.machine.device().broken());
}

TEST(Device, CountsInterruptsAndKicksOnlyWhenAskedFor) {
    Stepper s(64, 128 * 4);
    for (int i = 0; i < 5; ++i)
        s.step();
    EXPECT_EQ(s.me.counts.packets, 128U * 4 + 1);
    EXPECT_EQ(s.me.counts.interrupts, 5U);  // one a burst, not one a packet
    EXPECT_EQ(s.me.counts.kicks, 0U);       // the device never slept
    EXPECT_FALSE(s.machine.device().enable_notify());
    EXPECT_EQ(s.read(65536), 64U * 128 * 4);
    EXPECT_EQ(s.me.counts.kicks, 1U);  // the credit update
}

}  // namespace
}  // namespace vsb::engine
