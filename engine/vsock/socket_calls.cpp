#include "engine/vsock/socket_calls.h"

#include <algorithm>

#include "engine/sync/virtual_time.h"

namespace vsb::engine {
namespace {

bool nothing_more(const Socket& sk) noexcept {
    return sk.done || (sk.shutdown & kShutdownRcv) != 0 ||
           (sk.peer_shutdown & kShutdownSend) != 0 || sk.state != SocketState::established;
}

// vsock_connectible_wait_data: sleeps on the socket's wait queue, without the socket lock, until
// `ready` or the end of the stream. Called and returns with the lock held, except after
// `interrupted`: then `locked` tells.
template <class Ready>
RecvStatus wait_data(Socket& sk, Ready ready, bool dont_wait, bool& locked, Current& me) noexcept {
    WaitEntry entry;
    RecvStatus status = RecvStatus::data;
    for (;;) {
        sk.wait_queue.prepare_to_wait(entry, me.task);
        if (ready()) break;
        if (nothing_more(sk)) {
            status = RecvStatus::end_of_stream;
            break;
        }
        if (dont_wait) {
            status = RecvStatus::would_block;
            break;
        }
        if (me.task.interrupted()) {
            status = RecvStatus::interrupted;
            break;
        }
        sk.lock.unlock(me);
        me.sleep();
        locked = sk.lock.lock(me);
        if (!locked) {
            status = RecvStatus::interrupted;
            break;
        }
    }
    sk.wait_queue.finish_wait(entry);
    return status;
}

void update_credit(ReceiveContext& ctx, Socket& sk, bool needed, Current& me) noexcept {
    if (!needed) return;
    ++me.counts.credit_updates;
    send_control(ctx, sk, Op::credit_update, 0, false, me);
}

}  // namespace

Received recv_stream(ReceiveContext& ctx, Socket& sk, std::byte* to, std::uint32_t size,
                     bool dont_wait, Current& me) noexcept {
    ++me.counts.recv_calls;
    spend(Cost::system_call);
    Received out;
    if (!sk.lock.lock(me)) return {RecvStatus::interrupted};
    bool locked = true;
    const std::uint32_t lowat = sk.rcvlowat.load(std::memory_order_relaxed);
    const std::uint32_t target = std::min(lowat, size);
    out.status = wait_data(
        sk, [&]() noexcept { return sk.rx.bytes() >= target; }, dont_wait, locked, me);
    if (!locked) return out;
    if (out.status == RecvStatus::data || out.status == RecvStatus::end_of_stream) {
        const auto taken = sk.rx.dequeue_stream(to, size, lowat, me);
        out.bytes = taken.bytes;
        if (taken.bytes != 0) out.status = RecvStatus::data;
        update_credit(ctx, sk, taken.update_credit, me);
    }
    sk.lock.unlock(me);
    return out;
}

Received recv_message(ReceiveContext& ctx, Socket& sk, std::byte* to, std::uint32_t size,
                      bool dont_wait, Current& me) noexcept {
    ++me.counts.recv_calls;
    spend(Cost::system_call);
    Received out;
    if (!sk.lock.lock(me)) return {RecvStatus::interrupted};
    bool locked = true;
    out.status = wait_data(
        sk, [&]() noexcept { return sk.rx.messages() != 0; }, dont_wait, locked, me);
    if (!locked) return out;
    if (out.status == RecvStatus::data) {
        const auto taken = sk.rx.dequeue_message(to, size, me);
        out.bytes = taken.bytes;
        out.message_bytes = taken.message_bytes;
        out.end_of_record = taken.end_of_record;
        update_credit(ctx, sk, taken.update_credit, me);
    }
    sk.lock.unlock(me);
    return out;
}

bool send_all(ReceiveContext& ctx, Socket& sk, const std::byte* from, std::uint64_t size,
              Current& me) noexcept {
    spend(Cost::system_call);
    if (!sk.lock.lock(me)) return false;
    while (size != 0) {
        WaitEntry entry;
        for (;;) {
            sk.wait_queue.prepare_to_wait(entry, me.task);
            const bool ended = sk.done || (sk.peer_shutdown & kShutdownRcv) != 0;
            if (ended || me.task.interrupted()) {
                sk.wait_queue.finish_wait(entry);
                sk.lock.unlock(me);
                return false;
            }
            if (sk.tx.space() != 0) break;
            sk.lock.unlock(me);
            me.sleep();
            if (!sk.lock.lock(me)) {
                sk.wait_queue.finish_wait(entry);
                return false;
            }
        }
        sk.wait_queue.finish_wait(entry);
        Header header;
        header.len = sk.tx.take(
            static_cast<std::uint32_t>(std::min<std::uint64_t>(size, TransmitPath::kMaxPayload)));
        header.src_cid = sk.local.cid;
        header.src_port = sk.local.port;
        header.dst_cid = sk.remote.cid;
        header.dst_port = sk.remote.port;
        header.type = sk.type;
        header.op = Op::rw;
        header.buf_alloc = sk.rx.buf_alloc();
        header.fwd_cnt = sk.rx.tell_fwd_cnt();
        if (!ctx.tx.send(header, from, false, me)) {
            sk.lock.unlock(me);
            return false;
        }
        from += header.len;
        size -= header.len;
    }
    sk.lock.unlock(me);
    return true;
}

Socket* accept(Socket& listener, Current& me) noexcept {
    if (!listener.lock.lock(me)) return nullptr;
    Socket* child = listener.accept_queue;
    if (child != nullptr) {
        listener.accept_queue = child->accept_next;
        child->accept_next = nullptr;
        ++listener.accept_backlog;
    }
    listener.lock.unlock(me);
    return child;
}

void close(ReceiveContext& ctx, Socket& sk, Current& me) noexcept {
    if (sk.lock.lock(me)) {
        if (sk.state == SocketState::established && !sk.rst_sent && !sk.reset) {
            if (sk.peer_shutdown == kShutdownMask)
                send_control(ctx, sk, Op::rst, 0, false, me);
            else
                send_control(ctx, sk, Op::shutdown, kShutdownMask, false, me);
        }
        sk.state = SocketState::closing;
        sk.shutdown = kShutdownMask;
        sk.done = true;
        sk.lock.unlock(me);
    }
    ctx.tables.remove_connected(sk, me);
    sk.put(me);
}

}  // namespace vsb::engine
