#include "transport/sockets.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/un.h>
#include <unistd.h>

#include <linux/vm_sockets.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "transport/errors.h"

namespace vsb::transport {
namespace {

constexpr int kRetryMs = 5;

struct Address {
    sockaddr_storage storage{};
    socklen_t size = 0;
    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

Address address_of(const Endpoint& endpoint, bool listening) {
    Address address;
    switch (endpoint.family) {
        case Family::vsock: {
            sockaddr_vm vm{};
            vm.svm_family = AF_VSOCK;
            vm.svm_cid = endpoint.cid;
            vm.svm_port = listening && endpoint.port == 0 ? VMADDR_PORT_ANY : endpoint.port;
            std::memcpy(&address.storage, &vm, sizeof vm);
            address.size = sizeof vm;
            break;
        }
        case Family::local: {
            sockaddr_un un{};
            un.sun_family = AF_UNIX;
            std::memcpy(un.sun_path, endpoint.path.data(), endpoint.path.size());
            std::memcpy(&address.storage, &un, sizeof un);
            address.size = sizeof un;
            break;
        }
        case Family::tcp: {
            sockaddr_in in{};
            in.sin_family = AF_INET;
            in.sin_addr.s_addr = htonl(endpoint.address);
            in.sin_port = htons(static_cast<std::uint16_t>(endpoint.port));
            std::memcpy(&address.storage, &in, sizeof in);
            address.size = sizeof in;
            break;
        }
    }
    return address;
}

int remaining_ms(Calls& calls, std::uint64_t deadline_ns) {
    const std::uint64_t now = calls.now_ns();
    if (now >= deadline_ns) return 0;
    const std::uint64_t ms = (deadline_ns - now + 999999) / 1000000;
    return static_cast<int>(std::min<std::uint64_t>(ms, std::numeric_limits<int>::max()));
}

Descriptor open_socket(Calls& calls, const Endpoint& endpoint, Kind kind, int extra = 0) {
    const int family = endpoint.family == Family::vsock   ? AF_VSOCK
                       : endpoint.family == Family::local ? AF_UNIX
                                                          : AF_INET;
    const int type = kind == Kind::stream ? SOCK_STREAM : SOCK_SEQPACKET;
    const int fd = calls.socket(family, type | extra);
    if (fd >= 0) return {calls, fd};
    const int error = errno;
    if (family == AF_VSOCK && (error == EAFNOSUPPORT || error == ENODEV)) {
        throw Unavailable("this kernel has no vsock (load the module vsock and a transport)");
    }
    throw_errno(error, "opening a socket for", format_endpoint(endpoint));
}

void set_number(Calls& calls, int fd, int level, int name, std::uint64_t value, const char* what,
                const Endpoint& endpoint) {
    if (calls.setsockopt(fd, level, name, &value, sizeof value) < 0) {
        throw_errno(errno, std::string("setting ") + what + " of", format_endpoint(endpoint));
    }
}

void apply(Calls& calls, int fd, const Endpoint& endpoint, const SocketOptions& options) {
    if (endpoint.family == Family::vsock) {
        // The maximum first: the size is clamped to it.
        const VsockBuffers& vsock = options.vsock;
        if (vsock.max) {
            set_number(calls, fd, AF_VSOCK, SO_VM_SOCKETS_BUFFER_MAX_SIZE, *vsock.max,
                       "SO_VM_SOCKETS_BUFFER_MAX_SIZE", endpoint);
        }
        if (vsock.min) {
            set_number(calls, fd, AF_VSOCK, SO_VM_SOCKETS_BUFFER_MIN_SIZE, *vsock.min,
                       "SO_VM_SOCKETS_BUFFER_MIN_SIZE", endpoint);
        }
        if (vsock.size) {
            set_number(calls, fd, AF_VSOCK, SO_VM_SOCKETS_BUFFER_SIZE, *vsock.size,
                       "SO_VM_SOCKETS_BUFFER_SIZE", endpoint);
        }
    } else if (endpoint.family == Family::tcp) {
        const int on = 1;
        if (calls.setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0) {
            throw_errno(errno, "setting TCP_NODELAY of", format_endpoint(endpoint));
        }
    } else if (options.kind == Kind::seqpacket && options.max_message > 65536) {
        // A message must fit the send buffer. FORCE wants CAP_NET_ADMIN; without it the limit
        // holds and send() says EMSGSIZE.
        const int wanted = static_cast<int>(
            std::min<std::uint64_t>(options.max_message, std::numeric_limits<int>::max() / 4));
        if (calls.setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &wanted, sizeof wanted) < 0) {
            calls.setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &wanted, sizeof wanted);
        }
    }
}

bool nobody_listens_yet(int error) {
    // ECONNRESET is what vsock says when nothing listens on the port.
    return error == ECONNREFUSED || error == ENOENT || error == ECONNRESET || error == ETIMEDOUT ||
           error == EAGAIN || error == ENODEV || error == EHOSTUNREACH || error == ENETUNREACH;
}

// 0 when connected, else the error.
int try_connect(Calls& calls, int fd, const Address& address, std::uint64_t deadline_ns) {
    if (calls.connect(fd, address.get(), address.size) == 0) return 0;
    if (errno == EINTR && address.storage.ss_family == AF_UNIX) return EAGAIN;
    // An interrupted connect goes on by itself: its end is awaited like that of one in progress.
    if (errno != EINPROGRESS && errno != EINTR) return errno;
    for (;;) {
        pollfd waiting{fd, POLLOUT, 0};
        const int ready = calls.poll(&waiting, 1, remaining_ms(calls, deadline_ns));
        if (ready < 0 && errno == EINTR) continue;
        if (ready < 0) return errno;
        if (ready == 0) return ETIMEDOUT;
        int error = 0;
        socklen_t size = sizeof error;
        if (calls.getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0) return errno;
        return error;
    }
}

}  // namespace

Listener::Listener(Calls& calls, const Endpoint& endpoint, const SocketOptions& options)
    : calls_(calls), endpoint_(endpoint), options_(options) {
    socket_ = open_socket(calls, endpoint, options.kind);
    apply(calls, socket_.get(), endpoint, options);
    if (endpoint.family == Family::tcp) {
        const int on = 1;
        calls.setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    }
    const Address address = address_of(endpoint, true);
    if (calls.bind(socket_.get(), address.get(), address.size) < 0) {
        const int error = errno;
        socket_.reset();
        throw_errno(error, "binding to", format_endpoint(endpoint));
    }
    if (calls.listen(socket_.get(), 128) < 0) {
        throw_errno(errno, "listening on", format_endpoint(endpoint));
    }
    if (endpoint.family == Family::local || endpoint.port != 0) return;
    Address bound;
    bound.size = sizeof bound.storage;
    if (calls.getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&bound.storage), &bound.size) <
        0) {
        throw_errno(errno, "asking for the port of", format_endpoint(endpoint));
    }
    if (endpoint.family == Family::vsock) {
        sockaddr_vm vm{};
        std::memcpy(&vm, &bound.storage, sizeof vm);
        endpoint_.port = vm.svm_port;
    } else {
        sockaddr_in in{};
        std::memcpy(&in, &bound.storage, sizeof in);
        endpoint_.port = ntohs(in.sin_port);
    }
}

Listener::~Listener() {
    if (socket_ && endpoint_.family == Family::local) ::unlink(endpoint_.path.c_str());
}

Descriptor Listener::accept(std::uint64_t deadline_ns, const std::string& what) {
    for (;;) {
        pollfd waiting{socket_.get(), POLLIN, 0};
        const int ready = calls_.poll(&waiting, 1, remaining_ms(calls_, deadline_ns));
        if (ready < 0 && errno == EINTR) continue;
        if (ready < 0) throw_errno(errno, "waiting on", format_endpoint(endpoint_));
        if (ready == 0) {
            throw Failure("nobody came for " + what + " on " + format_endpoint(endpoint_) +
                          " before the deadline");
        }
        Address peer;
        peer.size = sizeof peer.storage;
        const int fd =
            calls_.accept(socket_.get(), reinterpret_cast<sockaddr*>(&peer.storage), &peer.size);
        if (fd < 0) {
            if (errno == EINTR || errno == EAGAIN || errno == ECONNABORTED) continue;
            throw_errno(errno, "accepting on", format_endpoint(endpoint_));
        }
        Descriptor connection(calls_, fd);
        if (endpoint_.family == Family::vsock) {
            sockaddr_vm vm{};
            std::memcpy(&vm, &peer.storage, sizeof vm);
            peer_cid_ = vm.svm_cid;
        } else {
            apply(calls_, fd, endpoint_, options_);
        }
        return connection;
    }
}

Descriptor connect_to(Calls& calls, const Endpoint& endpoint, const SocketOptions& options,
                      std::uint64_t deadline_ns) {
    check_loopback(calls, endpoint);
    const Address address = address_of(endpoint, false);
    const std::string name = format_endpoint(endpoint);
    for (;;) {
        Descriptor socket = open_socket(calls, endpoint, options.kind, SOCK_NONBLOCK);
        apply(calls, socket.get(), endpoint, options);
        const int error = try_connect(calls, socket.get(), address, deadline_ns);
        if (error == 0) {
            if (calls.set_nonblocking(socket.get(), false) < 0) {
                throw_errno(errno, "making blocking the socket to", name);
            }
            return socket;
        }
        if (!nobody_listens_yet(error)) throw_errno(error, "connecting to", name);
        if (calls.now_ns() >= deadline_ns) {
            throw_errno(error, "connecting, until the deadline, to", name);
        }
        calls.poll(nullptr, 0, kRetryMs);
    }
}

void check_loopback(Calls& calls, const Endpoint& endpoint) {
    if (endpoint.family != Family::vsock || endpoint.cid != kLoopbackCid) return;
    const Descriptor socket = open_socket(calls, endpoint, Kind::stream);
    Endpoint any = endpoint;
    any.port = 0;
    const Address address = address_of(any, true);
    if (calls.bind(socket.get(), address.get(), address.size) == 0) return;
    if (errno == EADDRNOTAVAIL) {
        throw Unavailable(
            "this machine has no vsock loopback (CID 1): the packets would leave for the "
            "hypervisor (load the module vsock_loopback)");
    }
    throw_errno(errno, "binding, to see whether loopback exists, to", format_endpoint(any));
}

std::optional<std::uint64_t> vsock_buffer_size(Calls& calls, int fd) {
    std::uint64_t value = 0;
    socklen_t size = sizeof value;
    if (calls.getsockopt(fd, AF_VSOCK, SO_VM_SOCKETS_BUFFER_SIZE, &value, &size) < 0) {
        return std::nullopt;
    }
    return value;
}

}  // namespace vsb::transport
