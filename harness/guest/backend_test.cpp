#include "harness/guest/backend.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "harness/guest/test_ring.h"

namespace vsb::guest {
namespace {

using testing::HasSubstr;

template <typename... T>
std::vector<std::byte> payload(T... values) {
    std::vector<std::byte> bytes;
    const auto put = [&bytes](auto value) {
        const auto* raw = reinterpret_cast<const std::byte*>(&value);
        bytes.insert(bytes.end(), raw, raw + sizeof(value));
    };
    (put(values), ...);
    return bytes;
}

Fd copy_of(const Fd& fd) {
    return Fd(fcntl(fd.get(), F_DUPFD_CLOEXEC, 3));
}
Fd event() {
    return Fd(eventfd(0, EFD_CLOEXEC));
}

VhostMessage message(std::uint32_t request, std::vector<std::byte> bytes = {}) {
    VhostMessage one;
    one.request = request;
    one.flags = 1;
    one.payload = std::move(bytes);
    return one;
}

VhostMessage with_fd(VhostMessage one, Fd fd) {
    one.fds.push_back(std::move(fd));
    return one;
}

std::uint64_t number_of(const std::vector<std::byte>& reply) {
    std::uint64_t value = 0;
    if (reply.size() == 20) std::memcpy(&value, reply.data() + 12, 8);
    return value;
}

class Backend : public testing::Test {
  protected:
    std::string tell(VhostMessage one) { return backend_.handle(std::move(one)).error; }

    VhostMessage memory_table() {
        const MemoryRegion r = memory_.region();
        return with_fd(message(5, payload(std::uint32_t{1}, std::uint32_t{0}, r.guest_address,
                                          r.size, r.user_address, r.file_offset)),
                       copy_of(memory_.fd()));
    }

    // What UML sends, in its order.
    void connect() {
        EXPECT_EQ(tell(message(3)), "");
        EXPECT_EQ(tell(message(2, payload(kOfferedFeatures))), "");
        EXPECT_EQ(tell(message(16, payload(kOfferedProtocol))), "");
        EXPECT_EQ(tell(memory_table()), "");
        for (std::uint32_t i = 0; i < 3; ++i) {
            const TestDriver driver(memory_, 0x10000 * i, 8);
            const RingAddresses a = driver.addresses();
            EXPECT_EQ(tell(with_fd(message(13, payload(std::uint64_t{i})), event())), "");
            EXPECT_EQ(tell(message(8, payload(i, std::uint32_t{8}))), "");
            EXPECT_EQ(tell(message(10, payload(i, std::uint32_t{0}))), "");
            EXPECT_EQ(tell(message(9, payload(i, std::uint32_t{0}, a.descriptors, a.used, a.avail,
                                              ~std::uint64_t{0}))),
                      "");
            EXPECT_FALSE(backend_.queue(i).running());
            EXPECT_EQ(tell(with_fd(message(12, payload(std::uint64_t{i})), event())), "");
            EXPECT_EQ(tell(message(18, payload(i, std::uint32_t{1}))), "");
            EXPECT_TRUE(backend_.queue(i).running());
        }
    }

    TestMemory memory_;
    VhostBackend backend_{42};
};

TEST_F(Backend, StartsItsRingsInUmlsOrder) {
    connect();
    EXPECT_TRUE(backend_.ready());
    EXPECT_EQ(tell(message(18, payload(std::uint32_t{0}, std::uint32_t{0}))), "");
    EXPECT_FALSE(backend_.ready());
}

TEST_F(Backend, SaysWhatItOffers) {
    EXPECT_EQ(number_of(backend_.handle(message(1)).reply), kOfferedFeatures);
    EXPECT_EQ(number_of(backend_.handle(message(15)).reply), kOfferedProtocol);
    EXPECT_EQ(number_of(backend_.handle(message(17)).reply), 3u);
    EXPECT_THAT(tell(message(2, payload(kOfferedFeatures | 2))), HasSubstr("not offered"));
    EXPECT_THAT(tell(message(16, payload(std::uint64_t{1}))), HasSubstr("not offered"));
}

TEST_F(Backend, TheConfigurationIsTheCid) {
    auto answer = backend_.handle(message(
        24, payload(std::uint32_t{0}, std::uint32_t{8}, std::uint32_t{0}, std::uint64_t{0})));
    ASSERT_EQ(answer.error, "");
    ASSERT_EQ(answer.reply.size(), 12u + 12 + 8);
    std::uint64_t cid = 0;
    std::memcpy(&cid, answer.reply.data() + 24, 8);
    EXPECT_EQ(cid, 42u);
    for (const auto& [offset, size] : {std::pair{1u, 8u}, std::pair{0u, 9u}, std::pair{9u, 0u},
                                       std::pair{~0u, 8u}, std::pair{0u, ~0u}}) {
        EXPECT_NE(tell(message(24, payload(offset, size, std::uint32_t{0}, std::uint64_t{0}))), "");
    }
    EXPECT_NE(tell(message(25, payload(std::uint64_t{0}))), "");
}

TEST_F(Backend, AcknowledgesWhenAskedTo) {
    EXPECT_EQ(tell(message(16, payload(kOfferedProtocol))), "");
    VhostMessage good = message(3);
    good.flags = 1 | 8;
    auto answer = backend_.handle(std::move(good));
    EXPECT_EQ(answer.reply.size(), 20u);
    EXPECT_EQ(number_of(answer.reply), 0u);
    VhostMessage bad = message(99);
    bad.flags = 1 | 8;
    answer = backend_.handle(std::move(bad));
    EXPECT_EQ(number_of(answer.reply), 1u);
    EXPECT_THAT(answer.error, HasSubstr("99"));
}

TEST_F(Backend, GivesARingsIndexAndStopsIt) {
    connect();
    TestDriver driver(memory_, 0, 8);
    driver.set(0, 0x100000, 64, engine::kDescWrite);
    driver.post(0);
    Chain chain;
    ASSERT_EQ(backend_.queue(0).pop(chain), GuestQueue::Pop::chain);
    const auto answer = backend_.handle(message(11, payload(std::uint32_t{0}, std::uint32_t{0})));
    EXPECT_EQ(number_of(answer.reply) >> 32, 1u);
    EXPECT_FALSE(backend_.queue(0).running());
}

TEST_F(Backend, RefusesMemoryThatIsNotThere) {
    const auto table = [&](std::uint64_t address, std::uint64_t size, std::uint64_t offset) {
        return with_fd(
            message(5, payload(std::uint32_t{1}, std::uint32_t{0}, address, size, address, offset)),
            copy_of(memory_.fd()));
    };
    EXPECT_THAT(tell(table(0, TestMemory::kSize + 1, 0)), HasSubstr("does not hold"));
    EXPECT_THAT(tell(table(0, 4096, TestMemory::kSize)), HasSubstr("does not hold"));
    EXPECT_NE(tell(table(0, 0, 0)), "");
    EXPECT_NE(tell(table(~std::uint64_t{0} - 10, 4096, 0)), "");
    EXPECT_NE(tell(table(0, 4096, ~std::uint64_t{0} - 10)), "");
    EXPECT_NE(tell(message(5, payload(std::uint32_t{1}, std::uint32_t{0}))), "");
    EXPECT_NE(tell(message(5, payload(std::uint32_t{9}, std::uint32_t{0}))), "");
    EXPECT_NE(
        tell(with_fd(message(5, payload(std::uint32_t{1}, std::uint32_t{0}, std::uint64_t{0},
                                        std::uint64_t{4096}, std::uint64_t{0}, std::uint64_t{0})),
                     event())),
        "");
}

TEST_F(Backend, RefusesDescriptorsThatAreNoNotifiers) {
    EXPECT_THAT(tell(with_fd(message(13, payload(std::uint64_t{0})), copy_of(memory_.fd()))),
                HasSubstr("wrong kind"));
    EXPECT_NE(tell(message(12, payload(std::uint64_t{0}))), "");
    EXPECT_NE(tell(with_fd(message(12, payload(std::uint64_t{3})), event())), "");
    EXPECT_EQ(tell(message(14, payload(std::uint64_t{0x100}))), "");
}

TEST_F(Backend, ARunningRingCannotBeMoved) {
    connect();
    EXPECT_THAT(tell(message(8, payload(std::uint32_t{0}, std::uint32_t{8}))),
                HasSubstr("running"));
    EXPECT_EQ(tell(memory_table()), "");  // a new table looks the rings up again
    EXPECT_TRUE(backend_.ready());
}

TEST(VhostHeader, IsVersionOneAndShort) {
    std::uint32_t request = 0;
    std::uint32_t flags = 0;
    std::uint32_t size = 0;
    const auto read = [&](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
        const auto bytes = payload(a, b, c);
        return read_vhost_header(std::span<const std::byte, 12>(bytes.data(), 12), request, flags,
                                 size);
    };
    EXPECT_TRUE(read(5, 1, 40));
    EXPECT_EQ(request, 5u);
    EXPECT_EQ(size, 40u);
    EXPECT_FALSE(read(5, 2, 40));
    EXPECT_FALSE(read(5, 1 | 4, 40));
    EXPECT_FALSE(read(5, 1, 1025));
}

// Random messages with random descriptors: nothing may crash, leak a mapping, or accept a ring
// outside the memory. The sanitizer build makes it a fuzzer; the seed is fixed.
TEST(BackendFuzz, SurvivesWhateverIsSaid) {
    std::mt19937_64 random(7);
    TestMemory memory;
    for (int session = 0; session < 300; ++session) {
        VhostBackend backend(3);
        for (int step = 0; step < 60; ++step) {
            VhostMessage one;
            one.request = static_cast<std::uint32_t>(random() % 30);
            one.flags = 1 | (random() % 2 == 0 ? 8 : 0);
            one.payload.resize(random() % 4 == 0 ? random() % 100 : (random() % 2 == 0 ? 8 : 40));
            for (std::byte& byte : one.payload) {
                byte = static_cast<std::byte>(random() % 4 == 0 ? random() : 0);
            }
            if (one.request == 5 && random() % 2 == 0) {
                const MemoryRegion r = memory.region();
                one.payload = payload(std::uint32_t{1}, std::uint32_t{0}, r.guest_address, r.size,
                                      r.user_address, r.file_offset);
            }
            if (one.request == 9 && random() % 2 == 0) {
                const RingAddresses a = TestDriver(memory, 0, 8).addresses();
                one.payload = payload(static_cast<std::uint32_t>(random() % 4), std::uint32_t{0},
                                      a.descriptors, a.used, a.avail, std::uint64_t{0});
            }
            for (std::size_t i = random() % 3; i > 0; --i) {
                one.fds.push_back(random() % 2 == 0 ? copy_of(memory.fd()) : event());
            }
            backend.handle(std::move(one));
            Chain chain;
            for (std::size_t i = 0; i < kQueues; ++i) {
                for (int pops = 0; pops < 4; ++pops) {
                    if (backend.queue(i).pop(chain) != GuestQueue::Pop::chain) break;
                    backend.queue(i).put(chain.head, 1);
                    backend.queue(i).publish();
                }
                backend.call(i);
            }
        }
        std::uint64_t* words = reinterpret_cast<std::uint64_t*>(memory.at(0));
        for (int i = 0; i < 64; ++i)
            words[random() % 64] = random() % 3 == 0 ? random() : 0;
    }
}

}  // namespace
}  // namespace vsb::guest
