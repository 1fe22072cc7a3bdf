#include "harness/guest/device_any_input.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "engine/ring/vring.h"
#include "engine/vsock/header.h"
#include "harness/guest/pump.h"

namespace vsb::guest {
namespace {

using engine::Header;
using engine::kHeaderBytes;

constexpr std::uint64_t kCid = 3;
constexpr std::uint32_t kPort = 7;
constexpr std::uint64_t kGuestBase = 0x1000'0000;
constexpr std::uint64_t kUserBase = 0x7f00'0000'0000;
constexpr std::size_t kFile = 128 * 1024;
// The guest's memory starts and ends within a page: what the device maps beyond must stay as it is.
constexpr std::size_t kStart = 4096 + 512;
constexpr std::size_t kSize = kFile - 2 * kStart;
constexpr std::size_t kRing = 0x1000;  // bytes between two rings
constexpr std::size_t kEntries = 16;
constexpr std::size_t kBuffers = 3 * kRing;
constexpr std::uint32_t kBufferBytes = 512;
constexpr std::byte kCanary{0xa5};
constexpr int kMaxSteps = 300;
// A turn moves something, and what there is to move is posted in rings of at most 1024.
constexpr int kMaxTurns = 10'000;

std::uint64_t ticking() {
    static std::uint64_t now = 0;
    return now += 100;
}

class Bytes {
  public:
    explicit Bytes(const std::string& input) : input_(input) {}
    bool empty() const { return at_ >= input_.size(); }
    template <typename T>
    T take() {
        T value{};
        const std::size_t n = std::min(sizeof(T), input_.size() - std::min(at_, input_.size()));
        std::memcpy(&value, input_.data() + at_, n);
        at_ += sizeof(T);
        return value;
    }

  private:
    const std::string& input_;
    std::size_t at_ = 0;
};

class Machine {
  public:
    Machine() : file_(memfd_create("guest", MFD_CLOEXEC)), event_(eventfd(0, EFD_CLOEXEC)) {
        if (!file_ || !event_ || ftruncate(file_.get(), kFile) != 0) {
            throw std::runtime_error("memfd");
        }
        void* at = mmap(nullptr, kFile, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
        if (at == MAP_FAILED) throw std::runtime_error("mmap");
        base_ = static_cast<std::byte*>(at);
        std::fill_n(base_, kStart, kCanary);
        std::fill_n(base_ + kStart + kSize, kStart, kCanary);
    }
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;
    ~Machine() { munmap(base_, kFile); }

    std::string play(Bytes& in) {
        for (int step = 0; step < kMaxSteps && !in.empty(); ++step) {
            if (std::string broken = one(in); !broken.empty()) return broken;
        }
        pump_.take_job(nullptr);
        const auto untouched = [this](std::size_t from) {
            return std::all_of(base_ + from, base_ + from + kStart,
                               [](std::byte b) { return b == kCanary; });
        };
        if (!guarded_) return {};
        if (!untouched(0) || !untouched(kStart + kSize)) return "a byte outside was written";
        return {};
    }

  private:
    std::byte* at(std::size_t offset) { return base_ + kStart + offset % kSize; }
    // Fits in the guest's memory wherever it starts.
    void write(std::size_t offset, const void* from, std::size_t size) {
        offset %= kSize;
        std::memcpy(base_ + kStart + offset, from, std::min(size, kSize - offset));
    }
    template <typename T>
    T peek(std::size_t offset) {
        T value{};
        offset %= kSize;
        std::memcpy(&value, base_ + kStart + offset, std::min(sizeof(T), kSize - offset));
        return value;
    }

    static std::size_t ring(std::size_t index) { return index * kRing; }
    static std::size_t avail(std::size_t index) { return ring(index) + 16 * kEntries; }
    static std::size_t used(std::size_t index) { return avail(index) + 64; }

    void tell(std::uint32_t request, std::vector<std::byte> payload, std::vector<Fd> fds = {}) {
        VhostMessage message;
        message.request = request;
        message.flags = 1;
        message.payload = std::move(payload);
        message.fds = std::move(fds);
        pump_.backend().handle(std::move(message));
    }

    template <typename... T>
    static std::vector<std::byte> words(T... values) {
        std::vector<std::byte> bytes;
        const auto put = [&bytes](auto value) {
            const auto* raw = reinterpret_cast<const std::byte*>(&value);
            bytes.insert(bytes.end(), raw, raw + sizeof(value));
        };
        (put(values), ...);
        return bytes;
    }

    std::vector<Fd> copy_of(const Fd& fd) {
        std::vector<Fd> fds;
        fds.emplace_back(fcntl(fd.get(), F_DUPFD_CLOEXEC, 3));
        return fds;
    }

    // What an honest machine says.
    void set_up(bool event_idx) {
        const std::uint64_t features =
            event_idx ? kOfferedFeatures : kOfferedFeatures & ~(std::uint64_t{1} << 29);
        tell(2, words(features));
        tell(16, words(kOfferedProtocol));
        tell(5,
             words(std::uint32_t{1}, std::uint32_t{0}, kGuestBase, std::uint64_t{kSize}, kUserBase,
                   std::uint64_t{kStart}),
             copy_of(file_));
        for (std::uint32_t i = 0; i < kQueues; ++i) {
            tell(13, words(std::uint64_t{i}), copy_of(event_));
            tell(8, words(i, static_cast<std::uint32_t>(kEntries)));
            tell(10, words(i, std::uint32_t{0}));
            tell(9, words(i, std::uint32_t{0}, kUserBase + ring(i), kUserBase + used(i),
                          kUserBase + avail(i), std::uint64_t{0}));
            tell(12, words(std::uint64_t{i}), copy_of(event_));
            tell(18, words(i, std::uint32_t{1}));
        }
    }

    void describe(std::size_t index, std::uint16_t entry, const engine::VringDesc& descriptor) {
        write(ring(index) + 16 * std::size_t{entry}, &descriptor, sizeof(descriptor));
    }
    void post(std::size_t index, std::uint16_t head) {
        auto posted = peek<std::uint16_t>(avail(index) + 2);
        write(avail(index) + 4 + 2 * (posted % kEntries), &head, sizeof(head));
        ++posted;
        write(avail(index) + 2, &posted, sizeof(posted));
    }

    void post_buffers() {
        for (std::uint16_t i = 0; i < kEntries; ++i) {
            describe(kRxQueue, i,
                     {kGuestBase + kBuffers + i * kBufferBytes, std::uint32_t{kBufferBytes},
                      engine::kDescWrite, 0});
            post(kRxQueue, i);
        }
    }

    // A packet in answer to what the device sent last, with some of its fields from the input.
    void send(Bytes& in) {
        const auto index = static_cast<std::uint16_t>(peek<std::uint16_t>(used(kRxQueue) + 2) - 1);
        const auto id = peek<std::uint32_t>(used(kRxQueue) + 4 + 8 * (index % kEntries)) % kEntries;
        std::array<std::byte, kHeaderBytes> wire{};
        for (std::size_t i = 0; i < wire.size(); ++i)
            wire[i] = *at(kBuffers + id * kBufferBytes + i);
        const Header last = engine::decode(wire.data());
        Header header;
        header.src_cid = kCid;
        header.dst_cid = kHostCid;
        header.src_port = last.dst_port;
        header.dst_port = last.src_port;
        header.op = static_cast<engine::Op>(in.take<std::uint8_t>() % 10);
        header.flags = in.take<std::uint8_t>() % 4;
        header.buf_alloc = in.take<std::uint32_t>();
        header.fwd_cnt = in.take<std::uint16_t>();
        header.len = in.take<std::uint8_t>();
        const auto twist = in.take<std::uint8_t>();
        if ((twist & 0xf0) == 0x10) header.src_cid = twist;
        if ((twist & 0xf0) == 0x20) header.dst_port ^= twist;
        if ((twist & 0xf0) == 0x30) header.type = engine::PacketType::seqpacket;
        engine::encode(header, wire.data());
        const std::size_t where = kBuffers + kEntries * kBufferBytes;
        write(where, wire.data(), wire.size());
        auto length = static_cast<std::uint32_t>(kHeaderBytes + header.len);
        if ((twist & 0xf0) == 0x40)
            length = in.take<std::uint16_t>() % static_cast<std::uint32_t>(kSize - where) + 1;
        describe(kTxQueue, 0, {kGuestBase + where, length, 0, 0});
        post(kTxQueue, 0);
    }

    void begin_job(std::uint8_t which) {
        pump_.take_job(nullptr);
        if (which % 2 == 0) {
            job_ = std::make_unique<SendJob>(
                pump_.host(), ticking, SendPlan{kPort, which / 2U + 1U, which % 7 * 100U + 1U, 1});
        } else {
            job_ = std::make_unique<PingJob>(pump_.host(), ticking,
                                             PingPlan{kPort, which / 2U + 1U, 1, 64, 1, ""});
        }
        pump_.take_job(job_.get());
    }

    std::string turn() {
        int turns = 0;
        pump_.pump([&turns] { return ++turns > kMaxTurns; });
        if (turns > kMaxTurns) return "a turn that does not end";
        const auto* sender = dynamic_cast<const SendJob*>(job_.get());
        if (sender != nullptr && sender->done() && sender->failure().empty() &&
            sender->bytes() != sender->planned_bytes()) {
            return "a transfer was called done before its end";
        }
        if (job_ && job_->done()) pump_.take_job(nullptr);
        return {};
    }

    std::string one(Bytes& in) {
        switch (in.take<std::uint8_t>() % 12) {
            case 0:
                set_up(in.take<std::uint8_t>() % 2 == 0);
                break;
            case 1:
                post_buffers();
                break;
            case 2:
                send(in);
                break;
            case 3:
                begin_job(in.take<std::uint8_t>());
                break;
            case 4: {  // a descriptor
                const auto index = in.take<std::uint8_t>();
                engine::VringDesc descriptor{};
                descriptor.addr = kGuestBase + in.take<std::uint32_t>() % (2 * kSize);
                descriptor.len = in.take<std::uint16_t>();
                descriptor.flags = in.take<std::uint8_t>() % 8;
                descriptor.next =
                    static_cast<std::uint16_t>(in.take<std::uint8_t>() % (kEntries + 4));
                if (index >= 0xf0) descriptor.addr = in.take<std::uint64_t>();
                if (index >= 0xe0) descriptor.len = in.take<std::uint32_t>();
                describe(index % kQueues,
                         static_cast<std::uint16_t>(in.take<std::uint8_t>() % kEntries),
                         descriptor);
                break;
            }
            case 5:
                post(in.take<std::uint8_t>() % kQueues,
                     static_cast<std::uint16_t>(in.take<std::uint8_t>() % (kEntries + 4)));
                break;
            case 6: {  // an index that jumps
                const std::size_t index = in.take<std::uint8_t>() % kQueues;
                const auto value = in.take<std::uint16_t>();
                write((in.take<std::uint8_t>() % 2 == 0 ? avail(index) : used(index)) + 2, &value,
                      sizeof(value));
                break;
            }
            case 7: {  // anything, anywhere
                const auto value = in.take<std::uint64_t>();
                write(in.take<std::uint32_t>(), &value, 1 + in.take<std::uint8_t>() % 8);
                break;
            }
            case 8: {  // any message
                const auto request = in.take<std::uint8_t>() % 30U;
                std::vector<std::byte> payload(in.take<std::uint8_t>() % 80);
                for (std::byte& b : payload)
                    b = in.take<std::byte>();
                const auto kind = in.take<std::uint8_t>();
                // A memory table of the input's own may well hold our canaries.
                guarded_ = guarded_ && !(request == 5 && kind % 3 == 2);
                tell(request, std::move(payload),
                     kind % 3 == 0   ? std::vector<Fd>{}
                     : kind % 3 == 1 ? copy_of(event_)
                                     : copy_of(file_));
                break;
            }
            case 9:
                pump_.backend().clear_kick(in.take<std::uint8_t>() % kQueues);
                break;
            default:
                return turn();
        }
        return {};
    }

    Fd file_;
    Fd event_;
    std::byte* base_ = nullptr;
    bool guarded_ = true;
    std::unique_ptr<Job> job_;
    Pump pump_{kCid, {Publication::per_buffer, 8, 0}};
};

}  // namespace

std::string broken_device_promise(const std::string& input) {
    Bytes in(input);
    return Machine().play(in);
}

}  // namespace vsb::guest
