#pragma once
// Every system call the tools make on sockets, and their clock, behind one seam: tests inject
// EINTR, short counts, resets and clocks here. Each call returns what the system call returns and
// leaves the error in errno; none retries.

#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace vsb::transport {

class Calls {
  public:
    virtual ~Calls() = default;
    virtual int socket(int family, int type);  // SOCK_CLOEXEC is added
    virtual int bind(int fd, const sockaddr* address, socklen_t size);
    virtual int listen(int fd, int backlog);
    virtual int accept(int fd, sockaddr* address, socklen_t* size);  // CLOEXEC
    virtual int connect(int fd, const sockaddr* address, socklen_t size);
    virtual int getsockname(int fd, sockaddr* address, socklen_t* size);
    virtual int setsockopt(int fd, int level, int name, const void* value, socklen_t size);
    virtual int getsockopt(int fd, int level, int name, void* value, socklen_t* size);
    virtual int set_nonblocking(int fd, bool on);
    virtual ssize_t send(int fd, const void* data, std::size_t size, int flags);
    virtual ssize_t recv(int fd, void* data, std::size_t size, int flags);
    virtual ssize_t recvmsg(int fd, msghdr* message, int flags);
    virtual int poll(pollfd* fds, nfds_t count, int timeout_ms);
    virtual int shutdown(int fd, int how);
    virtual void close(int fd);
    virtual std::uint64_t now_ns();  // CLOCK_MONOTONIC
};

// The real ones. Stateless, shared by all threads.
Calls& system_calls();

}  // namespace vsb::transport
