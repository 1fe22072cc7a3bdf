#include "pingpong/exchange.h"

#include <cerrno>

#include "transport/errors.h"
#include "transport/survive.h"

namespace vsb::pingpong {

using transport::Attention;
using transport::Failure;

Exchange::Exchange(transport::Calls& calls, int fd, transport::Kind kind, bool busy_poll,
                   std::string peer, transport::Progress& progress, const transport::Attend& attend)
    : calls_(calls),
      fd_(fd),
      kind_(kind),
      busy_poll_(busy_poll),
      peer_(std::move(peer)),
      progress_(progress),
      attend_(attend) {}

void Exchange::pause(std::size_t done, std::size_t size, const char* what) {
    if (progress_.attention.load(std::memory_order_relaxed) == Attention::none || attend_()) return;
    throw Failure(std::to_string(done) + " of " + std::to_string(size) + " bytes " + what + " " +
                  peer_);
}

void Exchange::send(const std::byte* data, std::size_t size) {
    std::size_t done = 0;
    while (done < size) {
        const ssize_t n = calls_.send(fd_, data + done, size - done, MSG_NOSIGNAL);
        if (n > 0) {
            done += static_cast<std::size_t>(n);
            if (done < size && kind_ == transport::Kind::seqpacket) {
                throw Failure("a message to " + peer_ + " was cut short");
            }
            continue;
        }
        if (n == 0) throw Failure("send() to " + peer_ + " took nothing");
        transport::survive(calls_, fd_, errno, POLLOUT, "sending to", peer_);
        pause(done, size, "taken by");
    }
}

bool Exchange::receive(std::byte* data, std::size_t size) {
    const bool messages = kind_ == transport::Kind::seqpacket;
    const int flags = (messages ? MSG_TRUNC : 0) | (busy_poll_ ? MSG_DONTWAIT : 0);
    std::size_t done = 0;
    for (;;) {
        const ssize_t n = calls_.recv(fd_, data + done, size - done, flags);
        if (n > 0) [[likely]] {
            done += static_cast<std::size_t>(n);
            if (done == size) return true;
            if (messages) {
                throw Failure("a message of " + std::to_string(n) + " bytes came from " + peer_ +
                              ", not of " + std::to_string(size));
            }
            continue;
        }
        if (n == 0) {
            if (done == 0) return false;
            throw Failure(peer_ + " ended the stream after " + std::to_string(done) + " of " +
                          std::to_string(size) + " bytes");
        }
        if (!busy_poll_ || errno != EAGAIN) {
            transport::survive(calls_, fd_, errno, POLLIN, "receiving from", peer_);
        }
        pause(done, size, "came from");
    }
}

}  // namespace vsb::pingpong
