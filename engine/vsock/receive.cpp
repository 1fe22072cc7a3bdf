#include "engine/vsock/receive.h"

#include <new>

namespace vsb::engine {
namespace {

// virtio_transport_reset_no_sock: answers a packet for nobody. Never answers a reset.
void reset_no_sock(ReceiveContext& ctx, const Header& to, Current& me) noexcept {
    if (to.op == Op::rst) return;
    Header header;
    header.src_cid = to.dst_cid;
    header.src_port = to.dst_port;
    header.dst_cid = to.src_cid;
    header.dst_port = to.src_port;
    header.type = to.type;
    header.op = Op::rst;
    ++me.counts.resets;
    ctx.tx.send(header, nullptr, true, me);
}

void drop(ReceiveContext& ctx, const Packet& packet, std::uint64_t& why, Current& me) noexcept {
    ++why;
    ctx.pool.free(*packet.skb, me);
}

bool nothing_queued(Socket& sk) noexcept {
    return sk.type == PacketType::seqpacket ? sk.rx.messages() == 0 : sk.rx.bytes() == 0;
}

// virtio_transport_do_close. Left out: the close timer, removal from the tables (the connected
// entry goes with the last user here).
void do_close(Socket& sk, Current& me) noexcept {
    sk.done = true;
    sk.peer_shutdown = kShutdownMask;
    if (nothing_queued(sk)) sk.state = SocketState::closing;
    sk.state_change.load(std::memory_order_relaxed)(sk, me);
}

void recv_shutdown(ReceiveContext& ctx, Socket& sk, const Header& header, Current& me) noexcept {
    sk.peer_shutdown |= header.flags & kShutdownMask;
    if (sk.peer_shutdown == kShutdownMask && nothing_queued(sk) && !sk.done) {
        send_control(ctx, sk, Op::rst, 0, true, me);
        do_close(sk, me);
        return;
    }
    if ((header.flags & kShutdownMask) != 0)
        sk.state_change.load(std::memory_order_relaxed)(sk, me);
}

// virtio_transport_recv_connected.
void recv_connected(ReceiveContext& ctx, Socket& sk, const Packet& packet, Current& me) noexcept {
    switch (packet.header.op) {
        case Op::rw:
            if (recv_enqueue(ctx, sk, packet, me))
                vsock_data_ready(sk, sk.data_ready.load(std::memory_order_relaxed), me);
            return;
        case Op::credit_request:
            ++me.counts.credit_updates;
            send_control(ctx, sk, Op::credit_update, 0, true, me);
            break;
        case Op::credit_update:
            sk.write_space.load(std::memory_order_relaxed)(sk, me);
            break;
        case Op::shutdown:
            recv_shutdown(ctx, sk, packet.header, me);
            break;
        case Op::rst:
            sk.reset = true;
            do_close(sk, me);
            break;
        default:
            break;
    }
    ctx.pool.free(*packet.skb, me);
}

// virtio_transport_recv_listen: a request becomes a child in the connected table and in the
// listener's accept queue, and is answered. Anything else is reset.
void recv_listen(ReceiveContext& ctx, Socket& listener, const Packet& packet,
                 Current& me) noexcept {
    const Header& header = packet.header;
    Socket* child = nullptr;
    if (header.op == Op::request && listener.shutdown != kShutdownMask &&
        listener.accept_backlog != 0)
        child = new (std::nothrow) Socket(ctx.pool, listener.type, listener.child_buf_alloc);
    if (child == nullptr) {
        reset_no_sock(ctx, header, me);
        ctx.pool.free(*packet.skb, me);
        return;
    }
    --listener.accept_backlog;
    child->local = packet.destination();
    child->remote = packet.source();
    child->state = SocketState::established;
    child->rcvlowat.store(listener.rcvlowat.load(std::memory_order_relaxed),
                          std::memory_order_relaxed);
    child->tx.update(header.buf_alloc, header.fwd_cnt);
    Socket** tail = &listener.accept_queue;
    while (*tail != nullptr)
        tail = &(*tail)->accept_next;
    *tail = child;  // the creation's reference is the accept queue's
    ctx.tables.insert_connected(*child);
    send_control(ctx, *child, Op::response, 0, true, me);
    listener.data_ready.load(std::memory_order_relaxed)(listener, me);
    ctx.pool.free(*packet.skb, me);
}

bool valid_type(PacketType type) noexcept {
    return type == PacketType::stream || type == PacketType::seqpacket;
}

}  // namespace

void send_control(ReceiveContext& ctx, Socket& sk, Op op, std::uint32_t flags, bool is_reply,
                  Current& me) noexcept {
    if (op == Op::rst) {
        sk.rst_sent = true;
        ++me.counts.resets;
    }
    Header header;
    header.src_cid = sk.local.cid;
    header.src_port = sk.local.port;
    header.dst_cid = sk.remote.cid;
    header.dst_port = sk.remote.port;
    header.type = sk.type;
    header.op = op;
    header.flags = flags;
    header.buf_alloc = sk.rx.buf_alloc();
    header.fwd_cnt = sk.rx.tell_fwd_cnt();
    ctx.tx.send(header, nullptr, is_reply, me);
}

bool recv_enqueue(ReceiveContext& ctx, Socket& sk, const Packet& packet, Current& me) noexcept {
    packet.skb->flags = packet.header.flags;
    if (sk.rx.enqueue(*packet.skb, sk.type == PacketType::seqpacket, me) !=
        ReceiveQueue::Enqueued::refused)
        return true;
    drop(ctx, packet, me.counts.drops_receive_limit, me);
    sk.reset = true;
    send_control(ctx, sk, Op::rst, 0, true, me);
    do_close(sk, me);
    return false;
}

void recv_pkt_locked(ReceiveContext& ctx, Socket& sk, const Packet& packet, Current& me) noexcept {
    if (sk.closed_meanwhile()) {
        reset_no_sock(ctx, packet.header, me);
        drop(ctx, packet, me.counts.drops_closed, me);
    } else {
        if (sk.tx.update(packet.header.buf_alloc, packet.header.fwd_cnt) &&
            sk.state != SocketState::listening)
            sk.write_space.load(std::memory_order_relaxed)(sk, me);
        switch (sk.state) {
            case SocketState::listening:
                recv_listen(ctx, sk, packet, me);
                break;
            case SocketState::established:
                recv_connected(ctx, sk, packet, me);
                break;
            case SocketState::closing:  // virtio_transport_recv_disconnecting
                if (packet.header.op == Op::rst) do_close(sk, me);
                ctx.pool.free(*packet.skb, me);
                break;
            case SocketState::closed:
                reset_no_sock(ctx, packet.header, me);
                drop(ctx, packet, me.counts.drops_no_socket, me);
                break;
        }
    }
    sk.lock.unlock(me);
    sk.put(me);
}

void recv_pkt_to(ReceiveContext& ctx, Socket* sk, const Packet& packet, Current& me) noexcept {
    if (sk == nullptr || sk->type != packet.header.type) {
        reset_no_sock(ctx, packet.header, me);
        drop(ctx, packet, me.counts.drops_no_socket, me);
        if (sk != nullptr) sk->put(me);
        return;
    }
    if (!sk->lock.lock(me)) {  // the trial was given up
        ctx.pool.free(*packet.skb, me);
        sk->put(me);
        return;
    }
    recv_pkt_locked(ctx, *sk, packet, me);
}

void recv_pkt_bound(ReceiveContext& ctx, const Packet& packet, Current& me) noexcept {
    recv_pkt_to(ctx, ctx.tables.find_bound(packet.destination(), me), packet, me);
}

void recv_pkt(ReceiveContext& ctx, const Packet& packet, Current& me) noexcept {
    if (!valid_type(packet.header.type)) {
        reset_no_sock(ctx, packet.header, me);
        drop(ctx, packet, me.counts.drops_no_socket, me);
        return;
    }
    Socket* sk = ctx.tables.find_connected(packet.source(), packet.destination(), me);
    if (sk == nullptr) {
        recv_pkt_bound(ctx, packet, me);
        return;
    }
    recv_pkt_to(ctx, sk, packet, me);
}

}  // namespace vsb::engine
