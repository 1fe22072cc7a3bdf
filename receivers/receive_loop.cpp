#include "receivers/receive_loop.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <memory>
#include <vector>

#include "receivers/uring.h"
#include "transport/errors.h"
#include "transport/survive.h"

namespace vsb::receivers {
namespace {

using transport::Attention;

// A source waits for data and takes it: as recv(), and counts its own wake-ups.
struct Blocking {
    transport::Calls& calls;
    int fd;
    int flags;
    std::uint64_t wakeups = 0;
    ssize_t operator()(void* data, std::size_t size) { return calls.recv(fd, data, size, flags); }
};

struct Polling {
    transport::Calls& calls;
    int fd;
    int flags;
    std::uint64_t wakeups = 0;
    ssize_t operator()(void* data, std::size_t size) {
        pollfd waiting{fd, POLLIN | POLLRDHUP, 0};
        if (calls.poll(&waiting, 1, -1) < 0) return -1;
        ++wakeups;
        return calls.recv(fd, data, size, flags);
    }
};

class Epolling {
  public:
    Epolling(transport::Calls& calls, int fd, int flags)
        : calls_(calls), fd_(fd), flags_(flags), epoll_(calls, ::epoll_create1(EPOLL_CLOEXEC)) {
        epoll_event event{};
        event.events = EPOLLIN | EPOLLRDHUP;
        if (!epoll_ || ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) < 0) {
            transport::throw_errno(errno, "setting up epoll");
        }
    }
    ssize_t operator()(void* data, std::size_t size) {
        epoll_event event{};
        if (::epoll_wait(epoll_.get(), &event, 1, -1) < 0) return -1;
        ++wakeups;
        return calls_.recv(fd_, data, size, flags_);
    }
    std::uint64_t wakeups = 0;

  private:
    transport::Calls& calls_;
    int fd_;
    int flags_;
    transport::Descriptor epoll_;
};

struct Ringing {
    Uring& ring;
    int fd;
    int flags;
    std::uint64_t wakeups = 0;
    ssize_t operator()(void* data, std::size_t size) { return ring.recv(fd, data, size, flags); }
};

void check_bytes(const ReceiveJob& job, std::uint64_t at, const std::byte* data, std::size_t size) {
    const auto wrong = job.expected->first_difference(job.offset + at, data, size);
    if (wrong) {
        throw transport::Failure("byte " + std::to_string(at + *wrong) + " from " + job.peer +
                                 " is not the one that was sent");
    }
}

// False: attend() said to leave.
bool await_first_byte(transport::Calls& calls, const ReceiveJob& job, transport::Progress& progress,
                      const transport::Attend& attend) {
    for (;;) {
        pollfd waiting{job.fd, POLLIN | POLLRDHUP, 0};
        const int ready = calls.poll(&waiting, 1, -1);
        if (ready < 0 && errno != EINTR) {
            transport::throw_errno(errno, "waiting for", job.peer);
        }
        if (ready > 0) return true;
        if (progress.attention.load(std::memory_order_relaxed) != Attention::none && !attend()) {
            return false;
        }
    }
}

template <bool kTimed, class Source>
void loop(transport::Calls& calls, const ReceiveJob& job, Source& source, std::byte* buffer,
          transport::Progress& progress, const transport::Attend& attend, ReceiveTally& tally) {
    for (;;) {
        std::size_t room = job.recv_bytes;
        if (job.stop_at != 0 && !job.messages) room = std::min(room, job.stop_at - tally.bytes);
        std::uint64_t before = 0;
        if constexpr (kTimed) before = calls.now_ns();
        const ssize_t n = source(buffer, room);
        if constexpr (kTimed) {
            const int error = errno;
            tally.in_recv_ns += calls.now_ns() - before;
            errno = error;
        }
        if (n > 0) [[likely]] {
            const auto got = static_cast<std::size_t>(n);
            if (got > room) [[unlikely]] {
                throw transport::Failure("a message of " + std::to_string(got) + " bytes from " +
                                         job.peer + " does not fit into recv(" +
                                         std::to_string(room) + ")");
            }
            if (job.expected != nullptr) check_bytes(job, tally.bytes, buffer, got);
            tally.bytes += got;
            ++tally.recvs;
            ++tally.sizes[static_cast<unsigned>(std::bit_width(got)) - 1];
            progress.bytes.store(tally.bytes, std::memory_order_relaxed);
            if (tally.bytes >= job.planned) tally.last_ns = calls.now_ns();
            if (job.stop_at != 0 && tally.bytes >= job.stop_at) {
                tally.at_end = true;
                return;
            }
        } else if (n == 0) {
            ++tally.recvs;
            tally.at_end = true;
            return;
        } else {
            transport::survive(calls, job.fd, errno, POLLIN, "receiving from", job.peer);
        }
        if (progress.attention.load(std::memory_order_relaxed) != Attention::none) [[unlikely]] {
            if (!attend()) return;
        }
    }
}

}  // namespace

ReceiveTally receive_loop(transport::Calls& calls, const ReceiveJob& job,
                          transport::Progress& progress, const transport::Attend& attend) {
    ReceiveTally tally;
    std::vector<std::byte> buffer(job.recv_bytes);  // outlives a receive the ring still holds
    const std::unique_ptr<Uring> ring =
        job.mode == Mode::uring ? std::make_unique<Uring>() : nullptr;
    // With MSG_TRUNC a message is told in its full length, however much of it fits.
    const int flags = job.messages ? MSG_TRUNC : 0;
    if (!await_first_byte(calls, job, progress, attend)) return tally;
    tally.first_ns = calls.now_ns();
    const auto run = [&](auto source) {
        if (job.timed) {
            loop<true>(calls, job, source, buffer.data(), progress, attend, tally);
        } else {
            loop<false>(calls, job, source, buffer.data(), progress, attend, tally);
        }
        tally.wakeups = source.wakeups;
    };
    switch (job.mode) {
        case Mode::recv:
            run(Blocking{calls, job.fd, flags});
            break;
        case Mode::waitall:
            run(Blocking{calls, job.fd, flags | MSG_WAITALL});
            break;
        case Mode::poll:
            run(Polling{calls, job.fd, flags});
            break;
        case Mode::epoll:
            run(Epolling(calls, job.fd, flags));
            break;
        case Mode::uring:
            run(Ringing{*ring, job.fd, flags});
            break;
    }
    tally.end_ns = calls.now_ns();
    return tally;
}

std::string format_sizes(const std::array<std::uint64_t, 64>& sizes) {
    std::string text;
    for (unsigned k = 0; k < sizes.size(); ++k) {
        if (sizes[k] == 0) continue;
        if (!text.empty()) text += ',';
        text += std::to_string(std::uint64_t{1} << k) + ":" + std::to_string(sizes[k]);
    }
    return text;
}

}  // namespace vsb::receivers
