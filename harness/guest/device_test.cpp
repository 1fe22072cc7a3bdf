#include "harness/guest/device.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "harness/guest/test_ring.h"
#include "transport/payload.h"

namespace vsb::guest {
namespace {

using engine::Header;
using engine::kHeaderBytes;
using engine::Op;
using testing::HasSubstr;

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kCid = 3;
constexpr std::uint16_t kRing = 16;
constexpr std::size_t kRxBuffers = 0x100000;
constexpr std::size_t kTxBuffers = 0x300000;
constexpr std::uint32_t kBufferSize = 3776;  // 4 KiB less overhead, as Linux posts them

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

// A machine and a guest in one: speaks vhost-user as UML does, drives the rings, and answers as a
// kernel with one listening socket.
class FakeGuest {
  public:
    explicit FakeGuest(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path, path.data(), path.size());
        EXPECT_EQ(
            connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
            0);
        tell(3, {});
        tell(2, payload(kOfferedFeatures));
        const MemoryRegion r = memory_.region();
        tell(5,
             payload(std::uint32_t{1}, std::uint32_t{0}, r.guest_address, r.size, r.user_address,
                     r.file_offset),
             memory_.fd().get());
        start_ring(0, rx_, call_.get(), rx_kick_.get());
        start_ring(1, tx_, tx_call_.get(), tx_kick_.get());
        for (std::uint16_t i = 0; i < kRing; ++i) {
            rx_.set(i, kRxBuffers + i * std::size_t{4096}, kBufferSize, engine::kDescWrite);
            rx_.post(i);
        }
        kick(rx_kick_);
    }

    // Serves until `done` says so.
    void serve(const std::function<bool()>& done) {
        while (!done()) {
            pollfd one{call_.get(), POLLIN, 0};
            poll(&one, 1, 5);
            std::uint64_t count = 0;
            if ((one.revents & POLLIN) != 0) {
                EXPECT_EQ(read(call_.get(), &count, sizeof(count)), 8);
            }
            while (seen_ != rx_.used_index())
                take(rx_.used_element(seen_++));
        }
    }

    std::function<void(FakeGuest&, const Header&, std::span<const std::byte>)> on_data;
    std::vector<std::byte> received;
    std::vector<std::size_t> sizes;
    std::uint32_t credit = 20'000;
    TestDriver& rx() { return rx_; }
    void hang_up() { socket_.reset(); }
    void wake() { kick(rx_kick_); }

    void send(const Header& to, Op op, std::span<const std::byte> data = {},
              std::uint32_t flags = 0) {
        Header header;
        header.src_cid = kCid;
        header.dst_cid = kHostCid;
        header.src_port = to.dst_port;
        header.dst_port = to.src_port;
        header.op = op;
        header.flags = flags;
        header.len = static_cast<std::uint32_t>(data.size());
        header.buf_alloc = credit;
        header.fwd_cnt = forwarded_[to.src_port];
        const auto slot = static_cast<std::uint16_t>(sent_++ % kRing);
        // A slot is free once the device has given it back.
        while (static_cast<std::uint16_t>(sent_ - tx_.used_index()) > kRing) {
            pollfd one{tx_call_.get(), POLLIN, 0};
            poll(&one, 1, 1);
        }
        std::byte* at = memory_.at(kTxBuffers + slot * std::size_t{0x10000});
        engine::encode(header, at);
        if (!data.empty()) std::memcpy(at + kHeaderBytes, data.data(), data.size());
        tx_.set(slot, kTxBuffers + slot * std::size_t{0x10000},
                static_cast<std::uint32_t>(kHeaderBytes + data.size()), 0);
        tx_.post(slot);
        kick(tx_kick_);
    }

  private:
    void kick(const Fd& fd) {
        const std::uint64_t one = 1;
        EXPECT_EQ(write(fd.get(), &one, sizeof(one)), 8);
    }

    void tell(std::uint32_t request, const std::vector<std::byte>& body, int fd = -1) {
        std::vector<std::byte> bytes =
            payload(request, std::uint32_t{1}, static_cast<std::uint32_t>(body.size()));
        bytes.insert(bytes.end(), body.begin(), body.end());
        iovec part{bytes.data(), bytes.size()};
        msghdr envelope{};
        envelope.msg_iov = &part;
        envelope.msg_iovlen = 1;
        alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
        if (fd >= 0) {
            envelope.msg_control = control.data();
            envelope.msg_controllen = control.size();
            cmsghdr* one = CMSG_FIRSTHDR(&envelope);
            one->cmsg_level = SOL_SOCKET;
            one->cmsg_type = SCM_RIGHTS;
            one->cmsg_len = CMSG_LEN(sizeof(int));
            std::memcpy(CMSG_DATA(one), &fd, sizeof(fd));
        }
        EXPECT_EQ(sendmsg(socket_.get(), &envelope, MSG_NOSIGNAL),
                  static_cast<ssize_t>(bytes.size()));
    }

    void start_ring(std::uint32_t index, const TestDriver& ring, int call, int kick_fd) {
        const RingAddresses a = ring.addresses();
        tell(13, payload(std::uint64_t{index}), call);
        tell(8, payload(index, std::uint32_t{kRing}));
        tell(10, payload(index, std::uint32_t{0}));
        tell(9, payload(index, std::uint32_t{0}, a.descriptors, a.used, a.avail, std::uint64_t{0}));
        tell(12, payload(std::uint64_t{index}), kick_fd);
        tell(18, payload(index, std::uint32_t{1}));
    }

    void take(const engine::VringUsedElem& used) {
        const std::size_t at = kRxBuffers + used.id * std::size_t{4096};
        const Header header = engine::decode(memory_.at(at));
        ASSERT_EQ(used.len, kHeaderBytes + header.len);
        const std::span data(memory_.at(at) + kHeaderBytes, header.len);
        rx_.avail(2 + kRing) = static_cast<std::uint16_t>(seen_);  // used_event: tell the next one
        if (header.op == Op::request) send(header, Op::response);
        if (header.op == Op::shutdown) send(header, Op::shutdown, {}, 3);
        if (header.op == Op::rw) {
            sizes.push_back(header.len);
            received.insert(received.end(), data.begin(), data.end());
            std::uint32_t& forwarded = forwarded_[header.src_port];
            forwarded += header.len;
            if (on_data) {
                on_data(*this, header, data);
            } else if (forwarded - told_[header.src_port] > credit / 2) {
                told_[header.src_port] = forwarded;
                send(header, Op::credit_update);
            }
        }
        rx_.post(static_cast<std::uint16_t>(used.id));
        kick(rx_kick_);
    }

    TestMemory memory_;
    TestDriver rx_{memory_, 0, kRing};
    TestDriver tx_{memory_, 0x10000, kRing};
    Fd socket_;
    Fd call_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    Fd tx_call_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    Fd rx_kick_{eventfd(0, EFD_CLOEXEC)};
    Fd tx_kick_{eventfd(0, EFD_CLOEXEC)};
    std::uint16_t seen_ = 0;
    std::uint32_t sent_ = 0;
    std::map<std::uint32_t, std::uint32_t> forwarded_;  // by the host's port
    std::map<std::uint32_t, std::uint32_t> told_;
};

class WithDevice : public testing::Test {
  protected:
    void make(const DevicePolicy& policy = {}) {
        device_.emplace(folder_.path() + "/s", kCid, policy);
        guest_.emplace(folder_.path() + "/s");
    }
    // Runs the job while the guest is served by another thread.
    void run(Job& job, const std::function<std::string()>& watch = {}) {
        std::atomic<bool> over = false;
        std::thread guest([&] { guest_->serve([&] { return over.load(); }); });
        device_->run(job, monotonic_ns() + 60 * kSecond, watch);
        over = true;
        guest.join();
    }
    PrivateFolder folder_{testing::TempDir()};
    std::optional<Device> device_;
    std::optional<FakeGuest> guest_;
};

struct Case {
    std::uint64_t payload;
    Publication publication;
};

class DeviceBytes : public WithDevice, public testing::WithParamInterface<Case> {};

TEST_P(DeviceBytes, ArriveAsSent) {
    const auto& [size, publication] = GetParam();
    make({publication, 8, 0});
    const std::uint64_t writes = 300'000 / size + 3;
    SendJob job(device_->host(), monotonic_ns, {77, writes, size, 5});
    run(job);
    ASSERT_EQ(job.failure(), "");
    EXPECT_EQ(job.bytes(), writes * size);
    ASSERT_EQ(guest_->received.size(), writes * size);
    const transport::Payload expected(5, guest_->received.size());
    EXPECT_FALSE(
        expected.first_difference(0, guest_->received.data(), guest_->received.size()).has_value());
    const DeviceCounts counts = device_->counts();
    EXPECT_EQ(counts.rx_bytes, writes * size);
    EXPECT_EQ(counts.complaints, 0u);
    // The request and the shutdown are packets too.
    EXPECT_GE(counts.rx_packets, guest_->sizes.size() + 2);
    if (publication == Publication::per_buffer) {
        EXPECT_EQ(counts.publications, counts.rx_packets);
    } else {
        EXPECT_EQ(counts.publications, counts.bursts);
    }
    EXPECT_LE(counts.rx_packets, counts.bursts * 8);
}

INSTANTIATE_TEST_SUITE_P(Sizes, DeviceBytes,
                         testing::Values(Case{1, Publication::batched},
                                         Case{64, Publication::per_buffer},
                                         Case{64, Publication::batched},
                                         Case{4096, Publication::per_buffer},
                                         Case{65536, Publication::batched}));

TEST_F(WithDevice, AnEchoIsMeasured) {
    make();
    std::string control;
    guest_->on_data = [&](FakeGuest& guest, const Header& header, std::span<const std::byte> data) {
        const auto say = [&](const std::string& text) {
            guest.send(header, Op::rw, std::as_bytes(std::span(text)));
        };
        const bool is_control = header.src_port == 1024;
        if (!is_control) {
            guest.send(header, Op::rw, data);
            return;
        }
        control.append(reinterpret_cast<const char*>(data.data()), data.size());
        if (control.starts_with("PLAN") && control.ends_with("\n")) {
            control.clear();
            say("READY port=77\nGO\n");
        }
        if (control.starts_with("DONE")) say("DONE requests=55\n");
    };
    PingJob job(device_->host(), monotonic_ns, {77, 50, 5, 64, 1, ""});
    run(job);
    // READY and GO came together, before the data connection was open: the job waits for it.
    EXPECT_EQ(job.failure(), "");
    EXPECT_EQ(job.rtt_ns().size(), 50u);
}

TEST_F(WithDevice, ASecondJobUsesTheSameRings) {
    make();
    for (int i = 0; i < 3; ++i) {
        guest_->received.clear();
        SendJob job(device_->host(), monotonic_ns, {77, 10, 64, 5});
        run(job);
        ASSERT_EQ(job.failure(), "") << i;
    }
}

TEST_F(WithDevice, AMachineThatHangsUpEndsTheJob) {
    make();
    guest_->on_data = [](FakeGuest& guest, const Header&, auto) { guest.hang_up(); };
    SendJob job(device_->host(), monotonic_ns, {77, std::uint64_t{1} << 40, 64, 5});
    run(job);
    EXPECT_THAT(job.failure(), HasSubstr("closed the device's connection"));
}

TEST_F(WithDevice, ABrokenRingEndsTheJob) {
    make();
    guest_->on_data = [](FakeGuest& guest, const Header&, auto) {
        guest.rx().jump(1000);
        guest.wake();
    };
    SendJob job(device_->host(), monotonic_ns, {77, std::uint64_t{1} << 40, 64, 5});
    run(job);
    EXPECT_THAT(job.failure(), HasSubstr("broke the rules"));
}

TEST_F(WithDevice, TheWatchEndsAJobThatDoesNotGetOn) {
    make();
    guest_->credit = 100;
    guest_->on_data = [](FakeGuest&, const Header&, auto) {};  // takes, and never says so
    SendJob job(device_->host(), monotonic_ns, {77, 10, 64, 5});
    int looks = 0;
    run(job, [&]() -> std::string { return ++looks > 3 ? "it stands still" : ""; });
    EXPECT_EQ(job.failure(), "it stands still");
    EXPECT_GE(device_->counts().credit_waits, 1u);
}

TEST(DeviceSocket, GarbageEndsTheSession) {
    const PrivateFolder folder(testing::TempDir());
    Device device(folder.path() + "/s", kCid, {});
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = folder.path() + "/s";
    std::memcpy(address.sun_path, path.data(), path.size());
    const Fd socket(::socket(AF_UNIX, SOCK_STREAM, 0));
    ASSERT_EQ(connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
              0);
    const std::string garbage(64, '\xff');
    ASSERT_EQ(send(socket.get(), garbage.data(), garbage.size(), MSG_NOSIGNAL), 64);
    char byte = 0;
    EXPECT_LE(recv(socket.get(), &byte, 1, 0), 0);  // it hangs up
    EXPECT_THAT(device.trouble(), HasSubstr("not vhost-user"));
}

TEST(DeviceSocket, ALongPathIsRefused) {
    EXPECT_THROW(Device("/tmp/" + std::string(200, 'x'), kCid, {}), std::invalid_argument);
    EXPECT_THROW(Device("/nowhere/s", kCid, {}), std::system_error);
}

}  // namespace
}  // namespace vsb::guest
