#pragma once
// How a send finds out where from, where to and by which transport: the policies of dgram-sendmsg.
// One object is one socket, and mirrors vsock_dgram_sendmsg(), vsock_auto_bind() and
// vsock_dgram_connect() of net/vmw_vsock/af_vsock.c. Left out: destinations given with the message,
// the checks of its flags, binding by the user.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/dgram_sendmsg/address.h"
#include "engine/dgram_sendmsg/transport.h"
#include "engine/vsock/current.h"

namespace vsb::engine::dgram_sendmsg {

// Where the socket is connected to. The two belong together: a send must never use the address of
// one and the transport of another.
struct Remote {
    Address address;
    const Transport* transport = nullptr;
};

// vsock_find_unbound_socket's port range: the next port above the reserved ones.
class Ports {
  public:
    explicit Ports(std::uint32_t first = kLastReservedPort + 1) noexcept : next_(first) {}
    std::uint32_t allocate() noexcept { return next_.fetch_add(1, std::memory_order_relaxed); }
    std::uint32_t allocated_up_to() const noexcept { return next_.load(); }

  private:
    std::atomic<std::uint32_t> next_;
};

struct SendCounts {
    std::uint64_t auto_binds = 0;
    std::uint64_t records_replaced = 0;
    std::uint64_t records_freed = 0;
    std::uint64_t most_records_waiting = 0;
};

class Send {
  public:
    Send() = default;
    Send(const Send&) = delete;
    Send& operator=(const Send&) = delete;
    virtual ~Send() = default;

    // Thread-safe; message.sender < the number of senders given at construction, one thread each.
    // False: interrupted or no memory.
    virtual bool send(const Message& message, Current& me) noexcept = 0;
    // Replaces the destination. Thread-safe beside sends. False: interrupted.
    virtual bool connect(const Remote& remote, Current& me) noexcept = 0;
    // Only when no other thread uses the socket.
    virtual SendCounts counts() noexcept = 0;
};

// Everything under lock_sock(), the copy and the enqueue included.
std::unique_ptr<Send> make_socket_lock(const Remote& remote, Ports& ports);
// No lock but for the first auto-bind; the destination is one record behind a pointer.
std::unique_ptr<Send> make_lockless(const Remote& remote, Ports& ports, std::size_t senders);
// Addresses and transport fixed beforehand, nothing looked up: the floor. connect() is refused.
std::unique_ptr<Send> make_noop(const Remote& remote, Ports& ports);

}  // namespace vsb::engine::dgram_sendmsg
