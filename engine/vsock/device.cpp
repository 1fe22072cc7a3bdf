#include "engine/vsock/device.h"

#include <algorithm>

#include "engine/sync/clock.h"

namespace vsb::engine {

Device::Device(Vring rx, Vring tx, TransmitPath& guest_tx, InterruptLine& interrupt,
               HostProgram& program, const Peers& peers, std::uint16_t first_index) noexcept
    : rx_(rx, first_index),
      tx_(tx, first_index),
      guest_tx_(guest_tx),
      interrupt_(interrupt),
      program_(program),
      peers_(peers) {}

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
    if (header.len > len - kHeaderBytes || header.src_port != peers_.guest.port ||
        header.dst_port != peers_.host.port)
        return;
    if (header.op == Op::rst) {
        closed_ = true;
        broken_ = broken_ || !shutdown_sent_;
        return;
    }
    credit_.update(header.buf_alloc, header.fwd_cnt);
    switch (header.op) {
        case Op::response:
            connected_ = true;
            break;
        case Op::rw:
            program_.got(bytes + kHeaderBytes, header.len);
            fwd_cnt_ += header.len;
            // The rule of virtio_transport_stream_do_dequeue, for a program that reads at once.
            if (peers_.host_buf_alloc - (fwd_cnt_ - last_fwd_cnt_) < TransmitPath::kMaxPayload)
                send_credit_update_ = true;
            break;
        case Op::shutdown:
            closed_ = true;
            broken_ = broken_ || !shutdown_sent_;
            break;
        default:
            break;
    }
}

// What the host would send next: a control packet, or the next piece of its current packet. Sets
// everything but the length of a piece. False: nothing, or no credit for it.
bool Device::next_packet(Header& header, Current& me) noexcept {
    header = Header{};
    header.src_cid = peers_.host.cid;
    header.src_port = peers_.host.port;
    header.dst_cid = peers_.guest.cid;
    header.dst_port = peers_.guest.port;
    header.type = PacketType::stream;
    if (send_request_) {
        header.op = Op::request;
        return true;
    }
    if (!connected_ || closed_ || shutdown_sent_) return false;
    if (send_credit_update_) {
        header.op = Op::credit_update;
        return true;
    }
    header.op = Op::rw;
    if (packet_left_ != 0) return true;
    if (write_left_ == 0) write_left_ = program_.next_write();
    if (write_left_ != 0) {
        packet_left_ = credit_.take(static_cast<std::uint32_t>(
            std::min<std::uint64_t>(write_left_, TransmitPath::kMaxPayload)));
        if (packet_left_ == 0 && !out_of_credit_) ++me.counts.credit_waits;
        out_of_credit_ = packet_left_ == 0;
        write_left_ -= packet_left_;
        return packet_left_ != 0;
    }
    if (!program_.finished()) return false;
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
        if (!next_packet(header, me)) break;
        DeviceQueue::Buffer buffer;
        if (!rx_.pop(buffer)) break;
        if (buffer.len <= kHeaderBytes) {  // the driver never posts one
            rx_.push(buffer.head, 0);
            continue;
        }
        auto* to = reinterpret_cast<std::byte*>(buffer.addr);
        if (header.op == Op::rw) {
            if (first_packet_ns_ == 0) first_packet_ns_ = now_ns();
            header.len =
                std::min(packet_left_, buffer.len - static_cast<std::uint32_t>(kHeaderBytes));
            program_.put(to + kHeaderBytes, header.len);
            packet_left_ -= header.len;
            bytes_sent_ += header.len;
        }
        header.buf_alloc = peers_.host_buf_alloc;
        header.fwd_cnt = last_fwd_cnt_ = fwd_cnt_;
        send_request_ = false;
        send_credit_update_ = false;
        shutdown_sent_ = shutdown_sent_ || header.op == Op::shutdown;
        encode(header, to);
        rx_.push(buffer.head, header.len + static_cast<std::uint32_t>(kHeaderBytes));
        ++me.counts.used_publications;
        filled = true;
    }
    if (filled && rx_.signal_needed()) interrupt_.raise(me);
    return filled;
}

bool Device::wants_to_send() noexcept {
    if (send_request_) return true;
    if (!connected_ || closed_ || shutdown_sent_) return false;
    if (packet_left_ == 0 && write_left_ == 0) write_left_ = program_.next_write();
    return send_credit_update_ || packet_left_ != 0 || write_left_ != 0 || program_.finished();
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
