#include "engine/vsock/device.h"

#include <algorithm>

#include "engine/sync/clock.h"
#include "engine/sync/virtual_time.h"

namespace vsb::engine {

Device::Device(Vring rx, Vring tx, TransmitPath& guest_tx, InterruptLine& interrupt,
               std::span<HostProgram* const> programs, const Peers& peers,
               std::uint16_t first_index)
    : rx_(rx, first_index),
      tx_(tx, first_index),
      guest_tx_(guest_tx),
      interrupt_(interrupt),
      peers_(peers),
      connections_(programs.size()) {
    for (std::size_t i = 0; i < programs.size(); ++i) {
        connections_[i].program = programs[i];
        connections_[i].port = peers.host.port + static_cast<std::uint32_t>(i);
    }
}

void Device::connect() noexcept {
    for (Connection& c : connections_)
        c.send_request = true;
}

bool Device::out_of_credit() const noexcept {
    return std::ranges::any_of(connections_, &Connection::out_of_credit);
}

bool Device::run(Current& me) noexcept {
    const bool took = take_transmitted(me);
    const bool filled = fill_posted(me);
    return took || filled;
}

// vhost_vsock_handle_tx_kick, with vhost_transport's part of virtio_transport_recv_pkt.
bool Device::take_transmitted(Current& me) noexcept {
    bool took = false;
    DeviceQueue::Buffer buffer;
    while (tx_.pop(buffer)) {
        pay(Cost::device_packet);
        receive(reinterpret_cast<const std::byte*>(buffer.addr), buffer.len);
        tx_.push(buffer.head, 0);
        took = true;
    }
    if (!took) return false;
    const bool stalled = !guest_tx_.more_replies();
    guest_tx_.done(me);
    // virtio_transport_tx_work restarts an RX worker that stopped for its unsent replies.
    if (stalled && guest_tx_.more_replies()) interrupt_.raise(me);
    return true;
}

void Device::receive(const std::byte* bytes, std::uint32_t len) noexcept {
    if (len < kHeaderBytes) return;
    const Header header = decode(bytes);
    const std::size_t index = std::size_t{header.dst_port} - peers_.host.port;  // wraps below
    if (header.len > len - kHeaderBytes || header.src_port != peers_.guest.port ||
        index >= connections_.size())
        return;
    Connection& c = connections_[index];
    const auto close = [&] {
        closed_ += c.closed ? 0 : 1;
        c.closed = true;
        broken_ = broken_ || !c.shutdown_sent;
    };
    if (header.op == Op::rst) return close();
    c.credit.update(header.buf_alloc, header.fwd_cnt);
    switch (header.op) {
        case Op::response:
            connected_ += c.connected ? 0 : 1;
            c.connected = true;
            break;
        case Op::rw:
            c.program->got(bytes + kHeaderBytes, header.len);
            c.fwd_cnt += header.len;
            // The rule of virtio_transport_stream_do_dequeue, for a program that reads at once.
            if (peers_.host_buf_alloc - (c.fwd_cnt - c.last_fwd_cnt) < TransmitPath::kMaxPayload)
                c.send_credit_update = true;
            break;
        case Op::shutdown:
            close();
            break;
        default:
            break;
    }
}

// The first connection, from the one whose turn it is, that has something to send.
Device::Connection* Device::next_sender(Header& header, Current& me) noexcept {
    for (std::size_t looked = 0; looked < connections_.size(); ++looked) {
        if (next_packet(connections_[turn_], header, me)) return &connections_[turn_];
        pass_turn();
    }
    return nullptr;
}

// What a connection would send next: a control packet, or the next piece of its current packet.
// Sets everything but the length of a piece. False: nothing, or no credit for it.
bool Device::next_packet(Connection& c, Header& header, Current& me) noexcept {
    header = Header{};
    header.src_cid = peers_.host.cid;
    header.src_port = c.port;
    header.dst_cid = peers_.guest.cid;
    header.dst_port = peers_.guest.port;
    header.type = PacketType::stream;
    if (c.send_request) {
        header.op = Op::request;
        return true;
    }
    if (!connected() || c.closed || c.shutdown_sent) return false;
    if (c.send_credit_update) {
        header.op = Op::credit_update;
        return true;
    }
    header.op = Op::rw;
    if (c.packet_left != 0) return true;
    if (c.write_left == 0) c.write_left = c.program->next_write();
    if (c.write_left != 0) {
        c.packet_left = c.credit.take(static_cast<std::uint32_t>(
            std::min<std::uint64_t>(c.write_left, TransmitPath::kMaxPayload)));
        if (c.packet_left == 0 && !c.out_of_credit) ++me.counts.credit_waits;
        c.out_of_credit = c.packet_left == 0;
        c.write_left -= c.packet_left;
        return c.packet_left != 0;
    }
    if (!c.program->finished()) return false;
    header.op = Op::shutdown;
    header.flags = kShutdownMask;
    return true;
}

// vhost_transport_do_send_pkt.
bool Device::fill_posted(Current& me) noexcept {
    bool filled = false;
    out_of_buffers_ = false;
    for (std::uint32_t packets = 0; packets < kBurst; ++packets) {
        if (!rx_.more_avail()) {
            out_of_buffers_ = true;
            break;
        }
        Header header;
        Connection* const sender = next_sender(header, me);
        if (sender == nullptr) break;
        Connection& c = *sender;
        DeviceQueue::Buffer buffer;
        if (!rx_.pop(buffer)) break;
        if (buffer.len <= kHeaderBytes) {  // the driver never posts one
            rx_.push(buffer.head, 0);
            continue;
        }
        pay(Cost::device_packet);
        auto* to = reinterpret_cast<std::byte*>(buffer.addr);
        if (header.op == Op::rw) {
            if (first_packet_ns_ == 0) first_packet_ns_ = now_ns();
            header.len =
                std::min(c.packet_left, buffer.len - static_cast<std::uint32_t>(kHeaderBytes));
            pay(Cost::copy_byte, header.len);
            c.program->put(to + kHeaderBytes, header.len);
            c.packet_left -= header.len;
            bytes_sent_ += header.len;
        }
        header.buf_alloc = peers_.host_buf_alloc;
        header.fwd_cnt = c.last_fwd_cnt = c.fwd_cnt;
        c.send_request = false;
        c.send_credit_update = false;
        c.shutdown_sent = c.shutdown_sent || header.op == Op::shutdown;
        if (c.packet_left == 0) pass_turn();
        encode(header, to);
        rx_.push(buffer.head, header.len + static_cast<std::uint32_t>(kHeaderBytes));
        ++me.counts.used_publications;
        filled = true;
    }
    if (filled && rx_.signal_needed()) interrupt_.raise(me);
    return filled;
}

bool Device::wants_to_send(Connection& c) noexcept {
    if (c.send_request) return true;
    if (!connected() || c.closed || c.shutdown_sent) return false;
    if (c.packet_left == 0 && c.write_left == 0) c.write_left = c.program->next_write();
    return c.send_credit_update || c.packet_left != 0 || c.write_left != 0 || c.program->finished();
}

bool Device::wants_to_send() noexcept {
    return std::ranges::any_of(connections_, [this](Connection& c) { return wants_to_send(c); });
}

bool Device::enable_notify() noexcept {
    const bool sent = tx_.enable_notify();
    // Buffers are worth a kick only to a device that lacks them.
    const bool posted = out_of_buffers_ && wants_to_send() && rx_.enable_notify();
    return sent || posted;
}

void Device::disable_notify() noexcept {
    tx_.disable_notify();
    rx_.disable_notify();
}

}  // namespace vsb::engine
