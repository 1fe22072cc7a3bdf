#pragma once
// vsock_connected_table and vsock_bind_table of af_vsock.c: hashed chains, each table under a lock
// of its own. A table holds a reference to each of its sockets; find returns one more.
// Left out: network namespaces, the list of auto-bound sockets.

#include <array>
#include <cstddef>

#include "engine/sync/spinlock.h"
#include "engine/vsock/socket.h"

namespace vsb::engine {

class SocketTable {
  public:
    static constexpr std::size_t kBuckets = 251;  // VSOCK_HASH_SIZE

    void insert(std::size_t hash, Socket& sk) noexcept;
    // False if it was not there.
    bool remove(std::size_t hash, Socket& sk, Current& me) noexcept;
    template <class Matches>
    Socket* find(std::size_t hash, Matches matches) noexcept {
        lock_.lock();
        Socket* sk = buckets_[hash % kBuckets];
        while (sk != nullptr && !matches(*sk))
            sk = sk->next_in_bucket;
        if (sk != nullptr) sk->hold();
        lock_.unlock();
        return sk;
    }
    // Drops every reference of the table.
    void clear(Current& me) noexcept;

  private:
    alignas(64) Spinlock lock_;
    std::array<Socket*, kBuckets> buckets_{};
};

class SocketTables {
  public:
    // vsock_insert_connected, vsock_insert_bound: the socket's addresses are set before.
    void insert_connected(Socket& sk) noexcept;
    void insert_bound(Socket& sk) noexcept;
    bool remove_connected(Socket& sk, Current& me) noexcept;
    bool remove_bound(Socket& sk, Current& me) noexcept;

    // vsock_find_connected_socket: by peer address and local port. nullptr when there is none.
    Socket* find_connected(const Address& peer, const Address& local, Current& me) noexcept;
    // vsock_find_bound_socket: by local port, any CID for a socket bound to kAnyCid.
    Socket* find_bound(const Address& local, Current& me) noexcept;

    void clear(Current& me) noexcept {
        connected_.clear(me);
        bound_.clear(me);
    }

  private:
    SocketTable connected_;
    SocketTable bound_;
};

inline constexpr std::uint64_t kAnyCid = 0xffffffff;  // VMADDR_CID_ANY

}  // namespace vsb::engine
