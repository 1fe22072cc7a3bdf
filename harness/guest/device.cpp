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

constexpr int kIdleMs = 50;  // how often an idle thread looks around
constexpr int kTickMs = 1;   // how often a job asks whether somebody listens now

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

Device::Device(const std::string& path, std::uint64_t guest_cid, const DevicePolicy& policy)
    : path_(path),
      pump_(guest_cid, policy),
      listener_(listen_at(path)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
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
            shown_ = pump_.counts();
        }
        const std::string broken = pump_.pump([this] {
            const std::lock_guard lock(mutex_);
            return quit_ || abandon_;
        });
        if (!broken.empty()) lose(broken);
        // A job that is done waits for no event: there may be none.
        if (pump_.job() != nullptr && pump_.job()->done()) continue;
        // Waiting for a listener: look often. Otherwise a kick wakes us.
        const bool calling = pump_.job() != nullptr && pump_.job()->progress() == 0;
        const int timeout = calling ? kTickMs : kIdleMs;
        wait_for_events(timeout);
    }
}

void Device::adopt_job() {
    if (pump_.job() != nullptr) {
        bool over = pump_.job()->done();
        {
            const std::lock_guard lock(mutex_);
            over = over || abandon_ || quit_;
        }
        const std::string trouble = this->trouble();
        if (!over && !trouble.empty()) {
            pump_.job()->fail(trouble);
            over = true;
        }
        if (over) release_job();
    }
    if (pump_.job() != nullptr) return;
    Job* job = nullptr;
    {
        const std::lock_guard lock(mutex_);
        job = std::exchange(offered_, nullptr);
    }
    if (job != nullptr) pump_.take_job(job);
}

void Device::release_job() {
    pump_.take_job(nullptr);
    const std::lock_guard lock(mutex_);
    shown_ = pump_.counts();
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
        if (pump_.backend().queue(i).running()) fds[3 + i].fd = pump_.backend().kick_fd(i);
    }
    if (poll(fds.data(), fds.size(), timeout_ms) <= 0) return;
    if (fds[0].revents != 0) {
        std::uint64_t count = 0;
        [[maybe_unused]] const ssize_t n = read(wake_.get(), &count, sizeof(count));
    }
    if (fds[1].revents != 0) accept_machine();
    for (std::size_t i = 0; i < kQueues; ++i) {
        if (fds[3 + i].revents != 0) pump_.backend().clear_kick(i);
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
        pump_.backend().queue(i).stop();
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
    VhostBackend::Answer answer = pump_.backend().handle(std::move(message));
    if (!answer.reply.empty()) {
        const ssize_t n =
            send(machine_.get(), answer.reply.data(), answer.reply.size(), MSG_NOSIGNAL);
        if (n != static_cast<ssize_t>(answer.reply.size()) && answer.error.empty()) {
            return "the machine does not take the device's replies";
        }
    }
    return answer.error;
}

}  // namespace vsb::guest
