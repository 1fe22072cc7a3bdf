#include "transport/calls.h"

#include <fcntl.h>
#include <unistd.h>

#include <ctime>

namespace vsb::transport {

int Calls::socket(int family, int type) {
    return ::socket(family, type | SOCK_CLOEXEC, 0);
}

int Calls::bind(int fd, const sockaddr* address, socklen_t size) {
    return ::bind(fd, address, size);
}

int Calls::listen(int fd, int backlog) {
    return ::listen(fd, backlog);
}

int Calls::accept(int fd, sockaddr* address, socklen_t* size) {
    return ::accept4(fd, address, size, SOCK_CLOEXEC);
}

int Calls::connect(int fd, const sockaddr* address, socklen_t size) {
    return ::connect(fd, address, size);
}

int Calls::getsockname(int fd, sockaddr* address, socklen_t* size) {
    return ::getsockname(fd, address, size);
}

int Calls::setsockopt(int fd, int level, int name, const void* value, socklen_t size) {
    return ::setsockopt(fd, level, name, value, size);
}

int Calls::getsockopt(int fd, int level, int name, void* value, socklen_t* size) {
    return ::getsockopt(fd, level, name, value, size);
}

int Calls::set_nonblocking(int fd, bool on) {
    const int flags = ::fcntl(fd, F_GETFL);
    if (flags < 0) return -1;
    return ::fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK);
}

ssize_t Calls::send(int fd, const void* data, std::size_t size, int flags) {
    return ::send(fd, data, size, flags);
}

ssize_t Calls::recv(int fd, void* data, std::size_t size, int flags) {
    return ::recv(fd, data, size, flags);
}

ssize_t Calls::recvmsg(int fd, msghdr* message, int flags) {
    return ::recvmsg(fd, message, flags);
}

int Calls::poll(pollfd* fds, nfds_t count, int timeout_ms) {
    return ::poll(fds, count, timeout_ms);
}

int Calls::shutdown(int fd, int how) {
    return ::shutdown(fd, how);
}

void Calls::close(int fd) {
    ::close(fd);
}

std::uint64_t Calls::now_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1000000000u +
           static_cast<std::uint64_t>(now.tv_nsec);
}

Calls& system_calls() {
    static Calls calls;
    return calls;
}

}  // namespace vsb::transport
