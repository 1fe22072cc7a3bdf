#pragma once
// Opening sockets: listen, accept, connect with a deadline. Deadlines are points on the clock of
// Calls::now_ns(). Errors: std::system_error naming the operation and the peer; Failure for a
// deadline; Unavailable where this machine lacks vsock or its loopback.

#include <cstdint>
#include <optional>
#include <string>

#include "transport/calls.h"
#include "transport/descriptor.h"
#include "transport/endpoint.h"

namespace vsb::transport {

// SO_VM_SOCKETS_BUFFER_{SIZE,MIN_SIZE,MAX_SIZE}; unset ones are left alone.
struct VsockBuffers {
    std::optional<std::uint64_t> size;
    std::optional<std::uint64_t> min;
    std::optional<std::uint64_t> max;
};

struct SocketOptions {
    Kind kind = Kind::stream;
    VsockBuffers vsock;             // vsock endpoints only; must be empty for others
    std::uint64_t max_message = 0;  // unix seqpacket: the send buffer is made to hold this
};

class Listener {
  public:
    Listener(Calls& calls, const Endpoint& endpoint, const SocketOptions& options);
    ~Listener();  // a unix socket's path is removed
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    // As bound: port 0 has become the port the kernel chose.
    const Endpoint& endpoint() const { return endpoint_; }
    // `what`: for the error, "the control connection".
    Descriptor accept(std::uint64_t deadline_ns, const std::string& what);
    // vsock: CID of the peer accepted last; 0 for other families.
    std::uint32_t peer_cid() const { return peer_cid_; }

  private:
    Calls& calls_;
    Endpoint endpoint_;
    SocketOptions options_;
    Descriptor socket_;
    std::uint32_t peer_cid_ = 0;
};

// Tries again while nobody listens, until the deadline. The socket is blocking afterwards.
Descriptor connect_to(Calls& calls, const Endpoint& endpoint, const SocketOptions& options,
                      std::uint64_t deadline_ns);

// CID 1 without a loopback transport would send the packets to the hypervisor: binding to it
// tells (EADDRNOTAVAIL), and nothing leaves. Throws Unavailable. Does nothing for other endpoints.
void check_loopback(Calls& calls, const Endpoint& endpoint);

// What SO_VM_SOCKETS_BUFFER_SIZE is now; nullopt where there is none.
std::optional<std::uint64_t> vsock_buffer_size(Calls& calls, int fd);

}  // namespace vsb::transport
