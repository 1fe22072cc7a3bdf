#pragma once
// struct vsock_sock with its struct sock, as far as the receive path looks at them.

#include <atomic>
#include <cstdint>

#include "engine/sync/wait_queue.h"
#include "engine/vsock/credit.h"
#include "engine/vsock/receive_queue.h"
#include "engine/vsock/socket_lock.h"

namespace vsb::engine {

struct Address {
    std::uint64_t cid = 0;
    std::uint32_t port = 0;
    bool operator==(const Address&) const = default;
};

// The TCP_* states vsock borrows.
enum class SocketState : std::uint8_t { closed, listening, established, closing };

struct Socket;
using Callback = void (*)(Socket&, Current&) noexcept;

// sk_prot and vsk->transport: only their identity matters to the receive path.
struct Protocol {
    const char* name;
};
struct Transport {
    const char* name;
};
extern const Protocol kVsockProtocol;
extern const Transport kVirtioTransport;

// sock_def_readable, sock_def_write_space, sock_def_wakeup. All wake the one wait queue of the
// socket: an entry of the autoremove kind does not look at which event it was, so that a
// write-space notification wakes a sleeping receiver as well, in the kernel as here. Left out:
// fasync, and the send-buffer limit that sock_writeable looks at.
void native_data_ready(Socket& sk, Current& me) noexcept;
void native_write_space(Socket& sk, Current& me) noexcept;
void native_state_change(Socket& sk, Current& me) noexcept;

// The callbacks a socket is created with.
struct NativeCallbacks {
    Callback data_ready = &native_data_ready;
    Callback write_space = &native_write_space;
};

struct Socket {
    Socket(SkbPool& pool, PacketType socket_type, std::uint32_t buf_alloc,
           NativeCallbacks native = {}) noexcept
        : type(socket_type),
          data_ready(native.data_ready),
          write_space(native.write_space),
          saved_data_ready(native.data_ready),
          saved_write_space(native.write_space),
          rx(pool, buf_alloc) {}
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;

    // Identity: set before the socket is inserted into a table.
    Address local;
    Address remote;
    const PacketType type;

    SocketLock lock;
    WaitQueue wait_queue;  // sk_sleep(sk)
    std::atomic<std::uint32_t> references{1};

    // Under the socket lock.
    SocketState state = SocketState::closed;
    // SOCK_DONE; atomic, since a deferred data-ready looks at it without the lock.
    std::atomic<bool> done{false};
    bool reset = false;  // the peer, or a receive limit, broke the connection (sk_err)
    bool rst_sent = false;
    std::uint32_t shutdown = 0;
    std::uint32_t peer_shutdown = 0;
    const Transport* transport = &kVirtioTransport;
    const Protocol* protocol = &kVsockProtocol;
    const void* psock = nullptr;  // sockmap marker
    Socket* accept_queue = nullptr;
    Socket* accept_next = nullptr;
    std::uint32_t accept_backlog = 0;  // free places; listening sockets only
    std::uint32_t child_buf_alloc = 0;

    // May be replaced at any time (sockmap, kTLS and others do so under sk_callback_lock).
    std::atomic<Callback> data_ready;
    std::atomic<Callback> write_space;
    std::atomic<Callback> state_change{&native_state_change};
    // As they were at creation: what a batch calls, and what it compares with.
    const Callback saved_data_ready;
    const Callback saved_write_space;

    std::atomic<std::uint32_t> rcvlowat{1};  // SO_RCVLOWAT
    ReceiveQueue rx;
    TransmitCredit tx;

    Socket* next_in_bucket = nullptr;  // of the table it is in, under that table's lock

    void hold() noexcept { references.fetch_add(1, std::memory_order_relaxed); }
    // sock_put: frees the socket, and what is queued in it, with the last reference.
    void put(Current& me) noexcept;

    bool native_callbacks() const noexcept {
        return data_ready.load(std::memory_order_relaxed) == saved_data_ready &&
               write_space.load(std::memory_order_relaxed) == saved_write_space;
    }
    // Can no packet reach this socket any more? (virtio_transport_recv_pkt's check under the lock)
    bool closed_meanwhile() const noexcept {
        return done || (state != SocketState::listening && transport != &kVirtioTransport);
    }
};

// vsock_data_ready: calls data-ready if at least SO_RCVLOWAT bytes, or a message, are queued, or
// nothing more will come.
void vsock_data_ready(Socket& sk, Callback data_ready, Current& me) noexcept;

}  // namespace vsb::engine
