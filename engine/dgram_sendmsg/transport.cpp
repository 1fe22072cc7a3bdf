#include "engine/dgram_sendmsg/transport.h"

#include <cstring>
#include <utility>

#include "engine/trial/sleep_until.h"

namespace vsb::engine::dgram_sendmsg {

bool SendBuffer::charge(std::uint64_t bytes, Current& me) noexcept {
    const auto room = [&] { return charged() < limit_; };
    if (!room()) {
        me.counts.sleeps += trial::sleep_until(waiters_, me.task, room);
        if (me.task.interrupted()) return false;
    }
    charged_.fetch_add(bytes, std::memory_order_seq_cst);
    return true;
}

void SendBuffer::release(std::uint64_t bytes, Current& me) noexcept {
    const std::uint64_t left = charged_.fetch_sub(bytes, std::memory_order_seq_cst) - bytes;
    if (left * 2 > limit_ || !waiters_.has_sleeper()) return;
    ++me.counts.write_space_notifications;
    me.count(waiters_.wake_up());
}

bool Transport::dgram_enqueue(const Address& from, const Address& to, const Message& message,
                              Current& me) const noexcept {
    const auto length = static_cast<std::uint32_t>(message.bytes.size());
    if (!buffer_.charge(cost(length), me)) return false;
    DatagramPtr datagram = allocate_datagram(length);
    if (datagram == nullptr) {
        buffer_.release(cost(length), me);
        return false;
    }
    datagram->sequence = message.sequence;
    datagram->sender = message.sender;
    datagram->transport = id_;
    datagram->from = from;
    datagram->to = to;
    std::memcpy(datagram->bytes(), message.bytes.data(), length);
    pay(Cost::packet);
    spend(Cost::copy_byte, length);
    queue_.push(std::move(datagram));
    ++me.counts.packets;
    me.counts.payload_bytes += length;
    if (queue_.readers().has_sleeper()) {
        ++me.counts.data_ready_notifications;
        spend(Cost::notification);
        me.count(queue_.readers().wake_up());
    }
    return true;
}

}  // namespace vsb::engine::dgram_sendmsg
