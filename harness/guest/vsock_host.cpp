#include "harness/guest/vsock_host.h"

#include <algorithm>
#include <stdexcept>

namespace vsb::guest {

using engine::Header;
using engine::Op;
using engine::PacketType;

Stream& VsockHost::connect(std::uint32_t port) {
    if (streams_.size() >= kMaxStreams) throw std::logic_error("too many vsock streams");
    Stream stream;
    stream.local_port = next_port_++;  // a fresh one each time: no late packet finds it
    stream.peer_port = port;
    streams_.push_back(stream);
    queue(header_for(streams_.back(), Op::request));
    return streams_.back();
}

void VsockHost::shutdown_send(Stream& stream) {
    if (stream.state != StreamState::open || stream.we_send_no_more) return;
    stream.we_send_no_more = true;
    Header header = header_for(stream, Op::shutdown);
    header.flags = engine::kShutdownSend;
    queue(header);
}

void VsockHost::reset(Stream& stream) {
    if (stream.state == StreamState::closed || stream.state == StreamState::refused) return;
    stream.state = StreamState::closed;
    queue(header_for(stream, Op::rst));
}

void VsockHost::forget_all() {
    for (Stream& stream : streams_)
        reset(stream);
    streams_.clear();
    listening_ = 0;
}

Header VsockHost::take_packet() {
    const Header header = queued_.front();
    queued_.pop_front();
    return header;
}

Header VsockHost::data_header(Stream& stream, std::uint32_t size) {
    Header header = header_for(stream, Op::rw);
    header.len = size;
    stream.tx_cnt += size;
    return header;
}

Header VsockHost::header_for(Stream& stream, Op op) {
    stream.announced = stream.received;
    Header header;
    header.src_cid = kHostCid;
    header.dst_cid = guest_cid_;
    header.src_port = stream.local_port;
    header.dst_port = stream.peer_port;
    header.type = PacketType::stream;
    header.op = op;
    header.buf_alloc = kBufAlloc;
    header.fwd_cnt = stream.received;
    return header;
}

// A guest that floods us gets answers for what fits: an RST that is dropped is asked for again.
void VsockHost::queue(const Header& header) {
    if (queued_.size() < kMaxQueued) queued_.push_back(header);
}

void VsockHost::refuse(const Header& in) {
    ++refusals_;
    if (in.op == Op::rst) return;  // never an RST for an RST
    Header header;
    header.src_cid = kHostCid;
    header.dst_cid = guest_cid_;
    header.src_port = in.dst_port;
    header.dst_port = in.src_port;
    header.type = in.type;
    header.op = Op::rst;
    queue(header);
}

Stream* VsockHost::find(std::uint32_t local_port, std::uint32_t peer_port) {
    const auto at = std::ranges::find_if(streams_, [&](const Stream& one) {
        return one.local_port == local_port && one.peer_port == peer_port &&
               one.state != StreamState::closed && one.state != StreamState::refused;
    });
    return at == streams_.end() ? nullptr : &*at;
}

// nullptr: no request for a connection, or nobody wants one.
Stream* VsockHost::accept(const Header& header) {
    const bool wanted = header.op == Op::request && header.type == PacketType::stream &&
                        header.len == 0 && listening_ != 0 && header.dst_port == listening_;
    if (!wanted || streams_.size() >= kMaxStreams) return nullptr;
    Stream stream;
    stream.local_port = header.dst_port;
    stream.peer_port = header.src_port;
    stream.state = StreamState::open;
    stream.peer_buf_alloc = header.buf_alloc;
    stream.peer_fwd_cnt = header.fwd_cnt;
    streams_.push_back(stream);
    queue(header_for(streams_.back(), Op::response));
    if (events_ != nullptr) events_->opened(streams_.back());
    return &streams_.back();
}

std::string VsockHost::receive(const Header& header, std::span<const std::byte> payload) {
    if (header.src_cid != guest_cid_ || header.dst_cid != kHostCid) {
        ++refusals_;  // as vhost: dropped, there is nobody to answer
        return "a packet from or to a CID that is not its own";
    }
    if (header.len != payload.size()) {
        refuse(header);
        return "a packet whose length is not its own";
    }
    Stream* stream = find(header.dst_port, header.src_port);
    if (stream == nullptr && accept(header) != nullptr) return {};
    if (stream == nullptr || header.type != PacketType::stream) {
        refuse(header);
        return {};
    }
    stream->peer_buf_alloc = header.buf_alloc;
    stream->peer_fwd_cnt = header.fwd_cnt;
    switch (header.op) {
        case Op::response:
            if (stream->state != StreamState::connecting) break;
            stream->state = StreamState::open;
            if (events_ != nullptr) events_->opened(*stream);
            return {};
        case Op::rst: {
            const bool connecting = stream->state == StreamState::connecting;
            stream->state = connecting ? StreamState::refused : StreamState::closed;
            if (events_ != nullptr && connecting) events_->refused(*stream);
            if (events_ != nullptr && !connecting) events_->closed(*stream, true);
            return {};
        }
        case Op::rw:
            return data_packet(*stream, payload);
        case Op::shutdown:
            shut_by_peer(*stream, header.flags);
            return {};
        case Op::credit_update:
            return {};
        case Op::credit_request:
            queue(header_for(*stream, Op::credit_update));
            return {};
        case Op::request:
        case Op::invalid:
            break;
    }
    reset(*stream);
    if (events_ != nullptr) events_->closed(*stream, true);
    return "an operation that does not fit the connection";
}

std::string VsockHost::data_packet(Stream& stream, std::span<const std::byte> payload) {
    const bool too_much = stream.received - stream.announced + payload.size() > kBufAlloc;
    if (stream.state != StreamState::open || stream.peer_sends_no_more || too_much) {
        reset(stream);
        if (events_ != nullptr) events_->closed(stream, true);
        return too_much ? "more data than its credit" : "data on a connection that is not open";
    }
    stream.received += static_cast<std::uint32_t>(payload.size());
    if (events_ != nullptr) events_->data(stream, payload);
    // The kernel's rule: tell before the peer has to stop.
    if (stream.state == StreamState::open && stream.received - stream.announced > kBufAlloc / 2) {
        queue(header_for(stream, Op::credit_update));
    }
    return {};
}

void VsockHost::shut_by_peer(Stream& stream, std::uint32_t flags) {
    if ((flags & engine::kShutdownSend) != 0) stream.peer_sends_no_more = true;
    if ((flags & engine::kShutdownMask) != engine::kShutdownMask) {
        if (stream.peer_sends_no_more && events_ != nullptr) events_->ended(stream);
        return;
    }
    // Both directions: the peer has closed and waits for our RST.
    reset(stream);
    if (events_ != nullptr) events_->closed(stream, false);
}

}  // namespace vsb::guest
