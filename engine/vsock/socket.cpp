#include "engine/vsock/socket.h"

#include "engine/sync/virtual_time.h"

namespace vsb::engine {

const Protocol kVsockProtocol{"AF_VSOCK"};
const Transport kVirtioTransport{"virtio"};

void native_data_ready(Socket& sk, Current& me) noexcept {
    ++me.counts.data_ready_notifications;
    spend(Cost::notification);
    if (sk.wait_queue.has_sleeper()) me.count(sk.wait_queue.wake_up());
}

void native_write_space(Socket& sk, Current& me) noexcept {
    ++me.counts.write_space_notifications;
    spend(Cost::notification);
    if (sk.wait_queue.has_sleeper()) me.count(sk.wait_queue.wake_up());
}

void native_state_change(Socket& sk, Current& me) noexcept {
    ++me.counts.state_change_notifications;
    spend(Cost::notification);
    if (sk.wait_queue.has_sleeper()) me.count(sk.wait_queue.wake_up());
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
