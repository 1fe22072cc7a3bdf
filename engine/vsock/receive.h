#pragma once
// Delivery of one packet to its socket: virtio_transport_recv_pkt and what it calls, in
// virtio_transport_common.c. The functions take the packet. Left out: taps, namespaces, SYN_SENT
// (the guest never connects here), zero-copy, the loopback transport.

#include "engine/vsock/socket_tables.h"
#include "engine/vsock/transmit_path.h"

namespace vsb::engine {

// A packet on its way: the buffer and its header, decoded once.
struct Packet {
    Skb* skb;
    Header header;
    Address source() const noexcept { return {header.src_cid, header.src_port}; }
    Address destination() const noexcept { return {header.dst_cid, header.dst_port}; }
};

// What delivery works with.
struct ReceiveContext {
    SocketTables& tables;
    TransmitPath& tx;
    SkbPool& pool;
};

// virtio_transport_recv_pkt: look up, reference, lock, deliver, release.
void recv_pkt(ReceiveContext& ctx, const Packet& packet, Current& me) noexcept;
// The same after a miss in the connected table.
void recv_pkt_bound(ReceiveContext& ctx, const Packet& packet, Current& me) noexcept;
// The same for a socket already found, or nullptr for none; drops the caller's reference.
void recv_pkt_to(ReceiveContext& ctx, Socket* sk, const Packet& packet, Current& me) noexcept;
// Its part under the socket lock; drops the lock and the caller's reference.
void recv_pkt_locked(ReceiveContext& ctx, Socket& sk, const Packet& packet, Current& me) noexcept;

// Queues a stream or seqpacket payload (virtio_transport_recv_enqueue). A refusal breaks the
// connection, since a stream with a hole is worse than none. False if refused.
bool recv_enqueue(ReceiveContext& ctx, Socket& sk, const Packet& packet, Current& me) noexcept;

// Sends a packet without payload for `sk`, with its current buf_alloc and fwd_cnt:
// virtio_transport_send_credit_update, virtio_transport_send_reset and the like.
void send_control(ReceiveContext& ctx, Socket& sk, Op op, std::uint32_t flags, bool is_reply,
                  Current& me) noexcept;

}  // namespace vsb::engine
