#include "engine/vsock/socket.h"

#include "engine/sync/virtual_time.h"

namespace vsb::engine {

const Protocol kVsockProtocol{"AF_VSOCK"};
const Transport kVirtioTransport{"virtio"};

namespace {

void wake_sleepers(Socket& sk, Current& me) noexcept {
    if (sk.wait_queue.has_sleeper()) me.count(sk.wait_queue.wake_up());
}

// By itself, so that the measured path below keeps no frame for a call that it never makes.
[[gnu::cold, gnu::noinline]] void notify_virtually(Socket& sk, Current& me) noexcept {
    spend(Cost::notification);
    wake_sleepers(sk, me);
}

inline void notify(Socket& sk, Current& me) noexcept {
    is_virtual() ? notify_virtually(sk, me) : wake_sleepers(sk, me);
}

}  // namespace

void native_data_ready(Socket& sk, Current& me) noexcept {
    ++me.counts.data_ready_notifications;
    notify(sk, me);
}

void native_write_space(Socket& sk, Current& me) noexcept {
    ++me.counts.write_space_notifications;
    notify(sk, me);
}

void native_state_change(Socket& sk, Current& me) noexcept {
    ++me.counts.state_change_notifications;
    notify(sk, me);
}

void vsock_data_ready(Socket& sk, Callback data_ready, Current& me) noexcept {
    if (sk.rx.bytes() >= sk.rcvlowat.load(std::memory_order_relaxed) || sk.done ||
        (sk.type == PacketType::seqpacket && sk.rx.messages() != 0))
        data_ready(sk, me);
}

void Socket::put(Current& me) noexcept {
    if (references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    rx.purge(me);
    delete this;
}

}  // namespace vsb::engine
