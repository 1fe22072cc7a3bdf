#include "senders/compat_receiver.h"

#include <cerrno>
#include <limits>
#include <vector>

#include "transport/errors.h"
#include "transport/sockets.h"
#include "transport/survive.h"

namespace vsb::senders {
namespace {

using transport::Failure;

void check_socket(transport::Calls& calls, int fd, const std::string& peer) {
    int error = 0;
    socklen_t size = sizeof error;
    if (calls.getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0) error = errno;
    transport::throw_errno(error == 0 ? EIO : error, "receiving from", peer);
}

}  // namespace

CompatReceived compat_receive(transport::Calls& calls, const CompatOptions& options,
                              const std::function<void()>& listening) {
    transport::SocketOptions socket_options;
    if (options.endpoint.family == transport::Family::vsock) {
        socket_options.vsock.max = options.vsk_bytes;
        socket_options.vsock.size = options.vsk_bytes;
    }
    transport::Listener listener(calls, options.endpoint, socket_options);
    std::vector<std::byte> buffer(options.buf_bytes);
    listening();
    const transport::Descriptor socket =
        listener.accept(std::numeric_limits<std::uint64_t>::max(), "the transfer");
    const int fd = socket.get();
    const std::string peer = "the sender on " + transport::format_endpoint(listener.endpoint());
    const int lowat = static_cast<int>(options.rcvlowat);
    if (calls.setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &lowat, sizeof lowat) < 0) {
        transport::throw_errno(errno, "setting SO_RCVLOWAT towards", peer);
    }

    CompatReceived received;
    transport::ReceiverWords& words = received.words;
    const std::uint64_t accepted = calls.now_ns();
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    for (;;) {
        pollfd waiting{fd, POLLIN | POLLRDHUP, 0};
        if (calls.poll(&waiting, 1, -1) < 0) {
            if (errno == EINTR) continue;
            transport::throw_errno(errno, "waiting for", peer);
        }
        if ((waiting.revents & POLLERR) != 0) check_socket(calls, fd, peer);
        ++words.wakeups;
        const std::uint64_t before = calls.now_ns();
        const ssize_t n = calls.recv(fd, buffer.data(), buffer.size(), 0);
        const int error = errno;
        const std::uint64_t after = calls.now_ns();
        words.in_read_ns += after - before;
        ++words.reads;
        if (n == 0) break;
        if (n < 0) {
            transport::survive(calls, fd, error, POLLIN, "receiving from", peer);
            continue;
        }
        if (first == 0) first = before;
        last = after;
        words.bytes += static_cast<std::uint64_t>(n);
    }
    words.loop_ns = calls.now_ns() - accepted;
    if (words.bytes == 0) throw Failure(peer + " sent not one byte");
    if (words.loop_ns == 0 || last <= first) throw Failure("no time passed on the clock");
    received.first_to_last_ns = last - first;
    return received;
}

}  // namespace vsb::senders
