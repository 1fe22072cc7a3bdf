#pragma once
// For tests: a guest without a device. Packets are handed to the worker one by one, replies are
// read from the TX ring, all on the calling thread.

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/ring/device_queue.h"
#include "engine/vsock/machine.h"

namespace vsb::engine {

class Rig {
  public:
    static constexpr std::uint64_t kHostCid = 2;
    static constexpr std::uint64_t kGuestCid = 3;
    static constexpr std::uint32_t kLocalPort = 9999;

    explicit Rig(std::string_view policy, BatchLimits limits = {}, std::size_t buffers = 1500,
                 std::uint16_t tx_ring_size = 128)
        : tx_ring_(tx_ring_size, true),
          rx_ring_(128, true),
          pool(buffers, 4096 - kSharedInfoBytes),
          tx(tx_ring_.ring(), bell_, 0),
          device_tx_(tx_ring_.ring()),
          ctx{tables, tx, pool} {
        me.owns_buffers = true;
        policy_ = find_policy(policy)->make(ctx, {limits, nullptr});
        worker = std::make_unique<Worker>(rx_ring_.ring(), ctx, *policy_, bell_, 0);
    }
    ~Rig() {
        policy_.reset();
        tables.clear(me);
        for (Socket* sk : sockets_)
            sk->put(me);
    }
    Rig(const Rig&) = delete;
    Rig& operator=(const Rig&) = delete;

    // A connected socket whose peer's port is `peer_port`.
    Socket& connected(std::uint32_t peer_port, PacketType type = PacketType::stream,
                      std::uint32_t buf_alloc = 262144, NativeCallbacks callbacks = {}) {
        auto* sk = new Socket(pool, type, buf_alloc, callbacks);
        sk->local = {kGuestCid, kLocalPort};
        sk->remote = {kHostCid, peer_port};
        sk->state = SocketState::established;
        tables.insert_connected(*sk);
        sockets_.push_back(sk);
        return *sk;
    }
    Socket& listening(std::uint32_t port, std::uint32_t backlog = 1) {
        auto* sk = new Socket(pool, PacketType::stream, 262144);
        sk->local = {kAnyCid, port};
        sk->state = SocketState::listening;
        sk->accept_backlog = backlog;
        sk->child_buf_alloc = 262144;
        tables.insert_bound(*sk);
        sockets_.push_back(sk);
        return *sk;
    }

    static Header header(std::uint32_t peer_port, Op op = Op::rw, std::uint32_t flags = 0,
                         PacketType type = PacketType::stream) {
        Header h;
        h.src_cid = kHostCid;
        h.src_port = peer_port;
        h.dst_cid = kGuestCid;
        h.dst_port = kLocalPort;
        h.type = type;
        h.op = op;
        h.flags = flags;
        h.buf_alloc = 262144;
        return h;
    }
    // The device wrote this packet and says it wrote `used_len` bytes.
    void packet(const Header& h, std::span<const std::byte> payload, std::uint32_t used_len) {
        Skb* skb = pool.take();
        ASSERT_NE(skb, nullptr);
        ASSERT_LE(payload.size() + kHeaderBytes, skb->buffer_len);
        encode(h, skb->head);
        std::copy(payload.begin(), payload.end(), skb->payload());
        worker->receive(*skb, used_len, me);
    }
    void packet(Header h, std::span<const std::byte> payload) {
        h.len = static_cast<std::uint32_t>(payload.size());
        packet(h, payload, static_cast<std::uint32_t>(kHeaderBytes + payload.size()));
    }
    void data(std::uint32_t peer_port, std::size_t bytes, std::uint32_t flags = 0,
              PacketType type = PacketType::stream) {
        const std::vector<std::byte> payload(bytes, std::byte{0x5a});
        packet(header(peer_port, Op::rw, flags, type), payload);
    }
    void flush(BatchEnd why = BatchEnd::ring_empty) { policy_->flush(why, me); }

    // Headers of everything the guest has sent since the last call.
    std::vector<Header> replies() {
        std::vector<Header> out;
        for (bool more = true; more;) {
            more = false;
            DeviceQueue::Buffer buffer;
            while (device_tx_.pop(buffer)) {
                out.push_back(decode(reinterpret_cast<const std::byte*>(buffer.addr)));
                device_tx_.push(buffer.head, 0);
                more = true;
            }
            if (more) tx.done(me);
        }
        return out;
    }
    std::uint64_t ends(BatchEnd why) const {
        return me.counts.batch_ends[static_cast<std::size_t>(why)];
    }
    Policy& policy() { return *policy_; }

  private:
    RingMemory tx_ring_;
    RingMemory rx_ring_;
    Doorbell bell_;
    std::unique_ptr<Policy> policy_;
    std::vector<Socket*> sockets_;

  public:
    SkbPool pool;
    SocketTables tables;
    TransmitPath tx;

  private:
    DeviceQueue device_tx_;

  public:
    ReceiveContext ctx;
    std::unique_ptr<Worker> worker;
    Current me;
};

inline std::string test_name_of(std::string_view policy) {
    std::string name;
    for (const char c : policy)
        name += c == '-' ? '_' : c;
    return name;
}

}  // namespace vsb::engine
