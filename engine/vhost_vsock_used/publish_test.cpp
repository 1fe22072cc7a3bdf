#include "engine/vhost_vsock_used/publish.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>
#include <numeric>

#include "engine/ring/driver_queue.h"
#include "engine/vhost_vsock_used/guest.h"
#include "engine/vhost_vsock_used/worker.h"
#include "engine/vsock/header.h"

namespace vsb::engine::vhost_vsock_used {
namespace {

constexpr std::uint16_t kJustBeforeTheWrap = 65'530;

// One ring with both its ends, worker and guest, single-threaded.
struct Bench {
    Bench(std::uint16_t ring_size, std::size_t buffer_bytes, std::uint64_t writes,
          std::uint64_t payload, std::size_t burst)
        : memory(Vring::bytes(ring_size) / 8 + 8),
          ring(Vring::over(aligned(), ring_size, true)),
          driver(ring, kJustBeforeTheWrap),
          device(ring, kJustBeforeTheWrap),
          pattern(9, payload),
          guest(driver, ring_size, buffer_bytes, {writes, payload}, pattern, kick),
          queue(burst, writes, payload, pattern) {}

    std::byte* aligned() {
        auto at = reinterpret_cast<std::uintptr_t>(memory.data());
        return reinterpret_cast<std::byte*>((at + 63) & ~std::uintptr_t{63});
    }

    std::vector<std::uint64_t> memory;
    Vring ring;
    DriverQueue driver;
    DeviceQueue device;
    trial::Pattern pattern;
    Doorbell kick;
    Doorbell signal;
    Guest guest;
    SendQueue queue;
};

struct Shape {
    std::uint16_t ring_size = 128;
    std::size_t limit = 128;
    std::size_t buffer_bytes = 3776;
    std::uint64_t writes = 100;
    std::uint64_t payload = 256;
    std::size_t burst = 64;
    WorkerSetup worker;
};

struct Played {
    PublishCounts published;
    WorkerCounts worker;
    GuestCounts guest;
};

// Sender, worker and guest in turn until everything has arrived; the guest checks all of it.
template <class Make>
Played play(const Shape& shape, Make make) {
    Bench bench(shape.ring_size, shape.buffer_bytes, shape.writes, shape.payload, shape.burst);
    const auto publish = make(bench.device);
    Worker worker(shape.worker, bench.device, *publish, bench.queue, bench.signal);
    for (int turns = 0; !bench.guest.complete(); ++turns) {
        if (bench.queue.front() == nullptr) bench.queue.fill();
        worker.run();
        EXPECT_EQ(publish->held(), 0U);  // nothing stays hidden when a run is over
        EXPECT_EQ(bench.guest.run(true), "");
        if (turns > 1'000'000) {
            ADD_FAILURE() << "no end";
            break;
        }
    }
    return {publish->counts(), worker.counts(), bench.guest.counts()};
}

Played play_per_buffer(const Shape& shape) {
    return play(shape, make_per_buffer);
}
Played play_batched(const Shape& shape) {
    return play(shape, [&](DeviceQueue& device) { return make_batched(device, shape.limit); });
}
Played play_noop(const Shape& shape) {
    return play(shape, [&](DeviceQueue& device) { return make_noop(device, shape.ring_size); });
}

std::uint64_t entries_in(const std::vector<std::uint64_t>& sizes) {
    std::uint64_t n = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i)
        n += i * sizes[i];
    return n;
}

std::uint64_t sum(const std::array<std::uint64_t, kFlushes>& flushes) {
    return std::accumulate(flushes.begin(), flushes.end(), std::uint64_t{0});
}

std::uint64_t of(const PublishCounts& counts, Flush reason) {
    return counts.flushes[static_cast<std::size_t>(reason)];
}

RC_GTEST_PROP(Publish, EveryPolicyDeliversTheSameBuffersAndItsCountsAdd, ()) {
    Shape shape;
    shape.ring_size = static_cast<std::uint16_t>(1U << *rc::gen::inRange(1U, 9U));
    shape.worker.packet_weight = *rc::gen::inRange<std::uint64_t>(1, 300);
    shape.worker.byte_weight = *rc::gen::inRange<std::uint64_t>(1, 100'000);
    shape.limit = batch_limit(shape.ring_size, *rc::gen::inRange<std::size_t>(1, 1025),
                              shape.worker.packet_weight);
    shape.buffer_bytes = *rc::gen::inRange<std::size_t>(45, 5000);
    shape.payload = *rc::gen::oneOf(rc::gen::inRange<std::uint64_t>(1, 300),
                                    rc::gen::inRange<std::uint64_t>(1, 150'000));
    shape.writes = 1 + *rc::gen::inRange<std::uint64_t>(0, shape.payload < 300 ? 400 : 3);
    shape.burst = *rc::gen::inRange<std::size_t>(1, 100);

    const Played one = play_per_buffer(shape);
    const Played many = play_batched(shape);
    const Played floor = play_noop(shape);
    for (const Played* played : {&one, &many, &floor}) {
        RC_ASSERT(played->guest.bytes == shape.writes * shape.payload);
        RC_ASSERT(played->guest.buffers == one.guest.buffers);
        RC_ASSERT(played->worker.buffers == one.guest.buffers);
        RC_ASSERT(played->published.entries == one.guest.buffers);
        RC_ASSERT(entries_in(played->published.sizes) == one.guest.buffers);
    }
    RC_ASSERT(one.published.publications == one.published.entries);
    const PublishCounts& batched = many.published;
    RC_ASSERT(batched.publications == sum(batched.flushes));
    RC_ASSERT(batched.sizes.size() == shape.limit + 1);
    RC_ASSERT(of(batched, Flush::full) == batched.sizes[shape.limit]);
    RC_ASSERT(batched.publications <= (batched.entries + shape.limit - 1) / shape.limit +
                                          sum(batched.flushes) - of(batched, Flush::full));
}

TEST(Publish, TheLimitIsTheLeastOfRingIovAndWeight) {
    EXPECT_EQ(batch_limit(128, 1024, 256), 128U);
    EXPECT_EQ(batch_limit(4096, 1024, 256), 256U);
    EXPECT_EQ(batch_limit(4096, 64, 256), 64U);
}

// 100 buffers, 64 to a burst, 40 to a publication: 40 + 24, then 36.
TEST(Publish, BatchesAreFullOrFlushedWhenTheQueueIsEmpty) {
    Shape shape;
    shape.limit = 40;
    const Played played = play_batched(shape);
    EXPECT_EQ(played.published.publications, 3U);
    EXPECT_EQ(of(played.published, Flush::full), 1U);
    EXPECT_EQ(of(played.published, Flush::queue_empty), 2U);
    EXPECT_EQ(played.published.sizes[40], 1U);
    EXPECT_EQ(played.published.sizes[24], 1U);
    EXPECT_EQ(played.published.sizes[36], 1U);
    EXPECT_EQ(play_per_buffer(shape).published.publications, 100U);
}

TEST(Publish, ARingWithoutBuffersAndAWorkersWeightFlushToo) {
    Shape shape;
    shape.ring_size = 16;
    shape.limit = 256;  // never full
    shape.burst = 100;
    EXPECT_GE(of(play_batched(shape).published, Flush::no_buffers), 100U / 16U);
    shape.ring_size = 128;
    shape.worker.packet_weight = 30;
    const Played by_packets = play_batched(shape);
    EXPECT_EQ(of(by_packets.published, Flush::leave), 3U);  // 30 + 30 + 30, then 10 and empty
    EXPECT_EQ(of(by_packets.published, Flush::queue_empty), 1U);
    shape.worker = {};
    shape.worker.byte_weight = 3000;  // of 300-byte buffers, headers included
    EXPECT_EQ(of(play_batched(shape).published, Flush::leave), 10U);
}

TEST(Publish, TheGuestIsSignalledOnceARun) {
    Shape shape;
    for (const auto& played : {play_per_buffer(shape), play_batched(shape)}) {
        EXPECT_EQ(played.worker.runs, 2U);
        EXPECT_EQ(played.worker.signals, 2U);
    }
    shape.worker.notifies = false;
    EXPECT_EQ(play_noop(shape).worker.signals, 0U);
}

// As virtio_transport_rx_work(): until then the worker finds no buffer and sleeps.
TEST(Guest, PostsBuffersAgainOnceTheRingIsDrainedAndFewerThanHalfAreLeft) {
    const auto posted_after = [](std::size_t packets) {
        Bench bench(128, 1024, packets, 64, packets);
        const auto publish = make_batched(bench.device, 128);
        Worker worker({}, bench.device, *publish, bench.queue, bench.signal);
        bench.queue.fill();
        worker.run();
        EXPECT_EQ(bench.guest.run(true), "");
        EXPECT_EQ(bench.guest.counts().buffers, packets);
        std::size_t posted = 0;
        for (DeviceQueue::Buffer buffer; bench.device.pop(buffer);)
            ++posted;
        return posted;
    };
    EXPECT_EQ(posted_after(64), 64U);
    EXPECT_EQ(posted_after(65), 128U);
    EXPECT_EQ(posted_after(100), 128U);
}

// What was collected must become visible though the next buffer is unusable.
TEST(Publish, ABufferThatCannotBeUsedFlushesWhatWasCollected) {
    Bench bench(4, 1024, 8, 64, 8);
    const auto publish = make_batched(bench.device, 4);
    Worker worker({}, bench.device, *publish, bench.queue, bench.signal);
    bench.ring.desc[bench.ring.avail_ring(static_cast<std::uint16_t>(kJustBeforeTheWrap + 2))].len =
        kHeaderBytes;
    bench.queue.fill();
    EXPECT_EQ(worker.run(), Worker::Left::error);
    EXPECT_EQ(of(publish->counts(), Flush::error), 1U);
    EXPECT_EQ(publish->counts().entries, 2U);
    EXPECT_EQ(bench.guest.run(true), "");
    EXPECT_EQ(bench.guest.counts().buffers, 2U);
}

// The guest must be able to find fault with what it is given.
TEST(Guest, FindsAWrongLengthAWrongByteAndAWrongHeader) {
    const auto deliver = [](auto spoil) {
        Bench bench(4, 1024, 2, 64, 2);
        bench.queue.fill();
        const auto publish = make_batched(bench.device, 4);
        Worker worker({}, bench.device, *publish, bench.queue, bench.signal);
        worker.run();
        const std::uint16_t at = kJustBeforeTheWrap + 1;
        VringUsedElem& used = bench.ring.used_ring(at);
        spoil(used, reinterpret_cast<std::byte*>(bench.ring.desc[used.id].addr));
        return bench.guest.run(true);
    };
    EXPECT_EQ(deliver([](VringUsedElem&, std::byte*) {}), "");
    EXPECT_EQ(deliver([](VringUsedElem& used, std::byte*) { --used.len; }),
              "buffer 1 was used with length 107, not 108");
    EXPECT_EQ(deliver([](VringUsedElem&, std::byte* bytes) { bytes[107] ^= std::byte{1}; }),
              "buffer 1 does not hold the bytes that were sent");
    EXPECT_EQ(deliver([](VringUsedElem&, std::byte* bytes) { bytes[24] ^= std::byte{1}; }),
              "buffer 1 has a header that says 65 bytes, not 64");
    EXPECT_EQ(deliver([](VringUsedElem& used, std::byte*) { used.id = 4; }),
              "the used ring named a buffer that was not posted");
}

}  // namespace
}  // namespace vsb::engine::vhost_vsock_used
