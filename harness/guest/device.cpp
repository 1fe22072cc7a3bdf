#include "harness/guest/device.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <system_error>

namespace vsb::guest {
namespace {

using engine::Header;
using engine::kHeaderBytes;

constexpr std::size_t kMaxPacket = 64 * 1024;  // VIRTIO_VSOCK_MAX_PKT_BUF_SIZE
constexpr int kIdleMs = 50;                    // how often an idle thread looks around
constexpr int kTickMs = 1;                     // how often a job asks whether somebody listens now
constexpr std::uint64_t kTickNs = 1'000'000;
constexpr std::size_t kTxAtOnce = 256;  // so that a guest that sends for ever cannot hold us

[[noreturn]] void throw_errno(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), what);
}

Fd listen_at(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof(address.sun_path)) {
        throw std::invalid_argument("the socket path " + path + " is too long (set TMPDIR)");
    }
    std::memcpy(address.sun_path, path.data(), path.size());
    Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) throw_errno("a unix socket");
    if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) < 0 ||
        listen(socket.get(), 1) < 0) {
        throw_errno("listening at " + path);
    }
    return socket;
}

}  // namespace

DeviceCounts operator-(const DeviceCounts& after, const DeviceCounts& before) {
    return {after.rx_packets - before.rx_packets,     after.rx_bytes - before.rx_bytes,
            after.tx_packets - before.tx_packets,     after.bursts - before.bursts,
            after.publications - before.publications, after.signals - before.signals,
            after.starved - before.starved,           after.credit_waits - before.credit_waits,
            after.complaints - before.complaints};
}

Device::Device(const std::string& path, std::uint64_t guest_cid, const DevicePolicy& policy)
    : path_(path),
      policy_(policy),
      host_(guest_cid),
      backend_(std::make_unique<VhostBackend>(guest_cid)),
      listener_(listen_at(path)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      scratch_(kMaxPacket) {
    if (!wake_) throw_errno("eventfd");
    // The thread starts with every signal blocked: SIGPIPE of a dead guest's pipe among them.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { loop(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Device::~Device() {
    {
        const std::lock_guard lock(mutex_);
        quit_ = true;
    }
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = write(wake_.get(), &one, sizeof(one));
    thread_.join();
    unlink(path_.c_str());
}

void Device::run(Job& job, std::uint64_t deadline_ns, const std::function<std::string()>& watch) {
    const std::uint64_t one = 1;
    std::unique_lock lock(mutex_);
    offered_ = &job;
    job_over_ = abandon_ = false;
    [[maybe_unused]] ssize_t n = write(wake_.get(), &one, sizeof(one));
    std::string reason;
    while (!job_over_) {
        changed_.wait_for(lock, std::chrono::milliseconds(50));
        if (job_over_ || abandon_) continue;
        lock.unlock();
        if (watch) reason = watch();
        if (reason.empty() && monotonic_ns() >= deadline_ns) {
            reason = "not done within its time limit";
        }
        lock.lock();
        if (!reason.empty()) {
            abandon_ = true;
            n = write(wake_.get(), &one, sizeof(one));
        }
    }
    if (!reason.empty()) job.fail(reason);
}

DeviceCounts Device::counts() const {
    const std::lock_guard lock(mutex_);
    return shown_;
}

std::string Device::trouble() const {
    const std::lock_guard lock(mutex_);
    return trouble_;
}

void Device::loop() {
    for (;;) {
        adopt_job();
        {
            const std::lock_guard lock(mutex_);
            if (quit_) return;
            shown_ = own_;
        }
        pump();
        // Waiting for a listener: look often. Otherwise a kick wakes us.
        int timeout = job_ != nullptr ? kTickMs : kIdleMs;
        if (job_ != nullptr && job_->progress() > 0) timeout = kIdleMs;
        wait_for_events(timeout);
    }
}

void Device::adopt_job() {
    if (job_ != nullptr) {
        bool over = job_->done();
        {
            const std::lock_guard lock(mutex_);
            over = over || abandon_ || quit_;
        }
        const std::string trouble = this->trouble();
        if (!over && !trouble.empty()) {
            job_->fail(trouble);
            over = true;
        }
        if (over) release_job();
    }
    if (job_ != nullptr) return;
    {
        const std::lock_guard lock(mutex_);
        job_ = std::exchange(offered_, nullptr);
    }
    if (job_ == nullptr) return;
    host_.set_events(job_);
    last_tick_ns_ = monotonic_ns();
    next_burst_ns_ = 0;
    job_->start();
}

void Device::release_job() {
    host_.set_events(nullptr);
    host_.forget_all();
    own_.credit_waits += job_->credit_waits();
    job_ = nullptr;
    const std::lock_guard lock(mutex_);
    shown_ = own_;
    job_over_ = true;
    changed_.notify_all();
}

void Device::wait_for_events(int timeout_ms) {
    std::array<pollfd, 3 + kQueues> fds{};
    for (pollfd& one : fds)
        one = {-1, POLLIN, 0};
    fds[0].fd = wake_.get();
    fds[1].fd = machine_ ? -1 : listener_.get();
    fds[2].fd = machine_.get();
    for (std::size_t i = 0; i < kQueues; ++i) {
        if (backend_->queue(i).running()) fds[3 + i].fd = backend_->kick_fd(i);
    }
    if (poll(fds.data(), fds.size(), timeout_ms) <= 0) return;
    if (fds[0].revents != 0) {
        std::uint64_t count = 0;
        [[maybe_unused]] const ssize_t n = read(wake_.get(), &count, sizeof(count));
    }
    if (fds[1].revents != 0) accept_machine();
    for (std::size_t i = 0; i < kQueues; ++i) {
        if (fds[3 + i].revents != 0) backend_->clear_kick(i);
    }
    if (fds[2].revents != 0) read_message();
}

void Device::accept_machine() {
    machine_ = Fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!machine_) return;
    // A machine that stops in the middle of a message must not hold the thread for ever.
    const timeval limit{2, 0};
    setsockopt(machine_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    setsockopt(machine_.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    listener_.reset();  // one machine, once
}

void Device::lose(const std::string& why) {
    const std::lock_guard lock(mutex_);
    if (trouble_.empty()) trouble_ = why;
    machine_.reset();
    for (std::size_t i = 0; i < kQueues; ++i)
        backend_->queue(i).stop();
}

void Device::read_message() {
    if (std::string error = next_message(); !error.empty()) lose(error);
}

std::string Device::next_message() {
    std::array<std::byte, kVhostHeaderBytes> header{};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kVhostMaxFds)> control{};
    iovec part{header.data(), header.size()};
    msghdr envelope{};
    envelope.msg_iov = &part;
    envelope.msg_iovlen = 1;
    envelope.msg_control = control.data();
    envelope.msg_controllen = control.size();
    ssize_t got = recvmsg(machine_.get(), &envelope, MSG_CMSG_CLOEXEC | MSG_WAITALL);
    VhostMessage message;
    if (got >= 0) {
        for (cmsghdr* one = CMSG_FIRSTHDR(&envelope); one != nullptr;
             one = CMSG_NXTHDR(&envelope, one)) {
            if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_RIGHTS) continue;
            const std::size_t count = (one->cmsg_len - CMSG_LEN(0)) / sizeof(int);
            for (std::size_t i = 0; i < count; ++i) {
                int fd = -1;
                std::memcpy(&fd, CMSG_DATA(one) + i * sizeof(int), sizeof(fd));
                message.fds.emplace_back(fd);
            }
        }
    }
    if (got == 0) return "the machine closed the device's connection";
    if (got < 0 && errno == EINTR) return {};
    if (got < 0) return std::string("the device's connection: ") + strerror(errno);
    if ((envelope.msg_flags & MSG_CTRUNC) != 0) return "a message with too many descriptors";
    std::uint32_t size = 0;
    if (static_cast<std::size_t>(got) != header.size() ||
        !read_vhost_header(header, message.request, message.flags, size)) {
        return "a message that is not vhost-user version 1";
    }
    message.payload.resize(size);
    std::size_t have = 0;
    while (have < size) {
        got = recv(machine_.get(), message.payload.data() + have, size - have, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return "the machine stopped in the middle of a message";
        have += static_cast<std::size_t>(got);
    }
    VhostBackend::Answer answer = backend_->handle(std::move(message));
    if (!answer.reply.empty()) {
        const ssize_t n =
            send(machine_.get(), answer.reply.data(), answer.reply.size(), MSG_NOSIGNAL);
        if (n != static_cast<ssize_t>(answer.reply.size()) && answer.error.empty()) {
            return "the machine does not take the device's replies";
        }
    }
    return answer.error;
}

// Everything that can be done without waiting; ends with notifications on and nothing to do.
void Device::pump() {
    if (!backend_->ready()) return;
    GuestQueue& rx = backend_->queue(kRxQueue);
    GuestQueue& tx = backend_->queue(kTxQueue);
    tx.disable_notify();
    rx.disable_notify();
    for (;;) {
        bool moved = take_tx();
        moved = send_burst() || moved;
        if (job_ != nullptr) {
            const std::uint64_t now = monotonic_ns();
            if (now - last_tick_ns_ >= kTickNs) {
                last_tick_ns_ = now;
                job_->tick();
            }
            if (job_->done()) break;
        }
        if (tx.broken() || rx.broken()) {
            lose("the guest's driver broke the rules of its ring");
            return;
        }
        {
            const std::lock_guard lock(mutex_);
            if (quit_ || abandon_) break;
        }
        if (moved) continue;
        // Nothing moved: ask for kicks, and look once more, for what came in between.
        const bool more_tx = tx.enable_notify();
        const bool more_rx = rx.enable_notify();
        const bool can_send =
            more_rx && (host_.has_packet() || (job_ != nullptr && job_->next(1).has_value()));
        if (!more_tx && !can_send) return;
        tx.disable_notify();
        rx.disable_notify();
    }
    tx.enable_notify();
    rx.enable_notify();
}

bool Device::take_tx() {
    GuestQueue& tx = backend_->queue(kTxQueue);
    std::size_t taken = 0;
    Chain chain;
    while (taken < kTxAtOnce && tx.pop(chain) == GuestQueue::Pop::chain) {
        ++taken;
        ++own_.tx_packets;
        std::array<std::byte, kHeaderBytes> wire{};
        if (gather(chain, 0, wire.data(), wire.size()) != wire.size() ||
            chain.readable_bytes > kHeaderBytes + kMaxPacket) {
            ++own_.complaints;
        } else {
            const Header header = engine::decode(wire.data());
            const std::size_t size = chain.readable_bytes - kHeaderBytes;
            gather(chain, kHeaderBytes, scratch_.data(), size);
            if (!host_.receive(header, std::span(scratch_.data(), size)).empty()) {
                ++own_.complaints;
            }
        }
        tx.put(chain.head, 0);
    }
    if (taken == 0) return false;
    tx.publish();
    if (tx.signal_needed()) backend_->call(kTxQueue);
    return true;
}

bool Device::next_rx(Chain& chain) {
    GuestQueue& rx = backend_->queue(kRxQueue);
    for (;;) {
        if (rx.pop(chain) != GuestQueue::Pop::chain) return false;
        if (chain.writable_bytes > kHeaderBytes && chain.readable == 0) return true;
        ++own_.complaints;  // no buffer for a packet: given back empty
        rx.put(chain.head, 0);
        rx.publish();
    }
}

void Device::put_rx(const Chain& chain, const Header& header, const Piece& piece) {
    GuestQueue& rx = backend_->queue(kRxQueue);
    std::array<std::byte, kHeaderBytes> wire{};
    engine::encode(header, wire.data());
    scatter(chain, 0, wire.data(), wire.size());
    if (piece.size != 0) scatter(chain, kHeaderBytes, piece.data, piece.size);
    rx.put(chain.head, static_cast<std::uint32_t>(kHeaderBytes) + piece.size);
    if (policy_.publication == Publication::per_buffer) {
        rx.publish();
        ++own_.publications;
    }
    ++own_.rx_packets;
    own_.rx_bytes += piece.size;
}

bool Device::send_burst() {
    GuestQueue& rx = backend_->queue(kRxQueue);
    if (policy_.gap_ns != 0 && monotonic_ns() < next_burst_ns_) {
        return job_ != nullptr;  // busy, on purpose: a sleep is far longer than a gap
    }
    std::uint32_t packets = 0;
    std::uint64_t now = 0;
    Chain chain;
    while (packets < policy_.burst) {
        const bool control = host_.has_packet();
        if (!control && (job_ == nullptr || job_->done() || !job_->next(1))) break;
        if (!next_rx(chain)) {
            ++own_.starved;
            break;
        }
        if (control) {
            put_rx(chain, host_.take_packet(), {});
        } else {
            const auto room = static_cast<std::uint32_t>(
                std::min<std::uint64_t>(chain.writable_bytes - kHeaderBytes, kMaxPacket));
            const std::optional<Piece> piece = job_->next(room);
            if (now == 0 || packets + 1 == policy_.burst) now = monotonic_ns();
            put_rx(chain, host_.data_header(*piece->stream, piece->size), *piece);
            job_->sent(*piece, now);
        }
        ++packets;
    }
    if (packets == 0) return false;
    ++own_.bursts;
    if (policy_.publication == Publication::batched) {
        rx.publish();
        ++own_.publications;
    }
    if (rx.signal_needed()) {
        backend_->call(kRxQueue);
        ++own_.signals;
    }
    if (policy_.gap_ns != 0) next_burst_ns_ = monotonic_ns() + policy_.gap_ns;
    return true;
}

}  // namespace vsb::guest
