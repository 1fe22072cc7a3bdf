#include "engine/vsock/socket_tables.h"

#include <mutex>

#include "engine/sync/virtual_time.h"

namespace vsb::engine {
namespace {

// VSOCK_CONN_HASH and VSOCK_HASH.
std::size_t connected_hash(const Address& peer, std::uint32_t local_port) noexcept {
    return static_cast<std::size_t>(peer.cid ^ local_port);
}

}  // namespace

void SocketTable::insert(std::size_t hash, Socket& sk) noexcept {
    sk.hold();
    const std::scoped_lock lock(lock_);
    Socket*& bucket = buckets_[hash % kBuckets];
    sk.next_in_bucket = bucket;
    bucket = &sk;
}

bool SocketTable::remove(std::size_t hash, Socket& sk, Current& me) noexcept {
    {
        const std::scoped_lock lock(lock_);
        Socket** at = &buckets_[hash % kBuckets];
        while (*at != nullptr && *at != &sk)
            at = &(*at)->next_in_bucket;
        if (*at == nullptr) return false;
        *at = sk.next_in_bucket;
        sk.next_in_bucket = nullptr;
    }
    sk.put(me);
    return true;
}

void SocketTable::clear(Current& me) noexcept {
    for (auto& bucket : buckets_) {
        while (bucket != nullptr) {
            Socket* sk = bucket;
            bucket = sk->next_in_bucket;
            sk->put(me);
        }
    }
}

void SocketTables::insert_connected(Socket& sk) noexcept {
    connected_.insert(connected_hash(sk.remote, sk.local.port), sk);
}

void SocketTables::insert_bound(Socket& sk) noexcept {
    bound_.insert(sk.local.port, sk);
}

bool SocketTables::remove_connected(Socket& sk, Current& me) noexcept {
    return connected_.remove(connected_hash(sk.remote, sk.local.port), sk, me);
}

bool SocketTables::remove_bound(Socket& sk, Current& me) noexcept {
    return bound_.remove(sk.local.port, sk, me);
}

Socket* SocketTables::find_connected(const Address& peer, const Address& local,
                                     Current& me) noexcept {
    ++me.counts.connected_lookups;
    spend(Cost::lookup);
    return connected_.find(connected_hash(peer, local.port), [&](const Socket& sk) {
        return sk.remote == peer && sk.local.port == local.port;
    });
}

Socket* SocketTables::find_bound(const Address& local, Current& me) noexcept {
    ++me.counts.bound_lookups;
    spend(Cost::lookup);
    return bound_.find(local.port, [&](const Socket& sk) {
        return sk.local.port == local.port &&
               (sk.local.cid == local.cid || sk.local.cid == kAnyCid);
    });
}

}  // namespace vsb::engine
