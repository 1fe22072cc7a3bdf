#pragma once
// A batch owns one socket's lock and reference across packets. What differs between the batching
// policies is when they notify:
//
//   struct Notify {
//       void begin() noexcept;                                   // a batch opens
//       void space(Socket&, Current&) noexcept;                  // writers have room; lock held
//       void data(Socket&, Current&) noexcept;                   // a packet was queued; lock held
//       void before_release(Socket&, Current&) noexcept;         // lock held
//       void after_release(Socket&, Current&) noexcept;          // lock dropped, reference held
//   };

#include <optional>

#include "engine/vsock/policy.h"

namespace vsb::engine {

template <class Notify>
class BatchPolicy final : public Policy {
  public:
    BatchPolicy(ReceiveContext& ctx, const BatchLimits& limits)
        : ctx_(ctx), limits_(limits), sizes_(std::size_t{limits.max_pkts} + 1) {}

    void receive(const Packet& packet, Current& me) noexcept override {
        if (owner_ != nullptr) {
            const auto why = ends(packet);
            if (!why) {
                append(packet, me);
                return;
            }
            end(*why, me);
            // A full batch makes room for the next; whatever else ended it goes alone.
            if (*why != BatchEnd::max_bytes) {
                recv_pkt(ctx_, packet, me);
                return;
            }
        }
        begin(packet, me);
    }

    void malformed(Current& me) noexcept override {
        if (owner_ != nullptr) end(BatchEnd::malformed, me);
    }

    void flush(BatchEnd why, Current& me) noexcept override {
        if (owner_ != nullptr) end(why, me);
    }

    std::vector<std::uint64_t> batch_sizes() const override { return sizes_; }

  private:
    // May this kind of packet be in a batch at all?
    static std::optional<BatchEnd> unfit(const Header& header) noexcept {
        if (header.type != PacketType::stream) return BatchEnd::other_type;
        if (header.op != Op::rw) return BatchEnd::other_op;
        return std::nullopt;
    }

    // May this socket, locked, be (or stay) the owner?
    static std::optional<BatchEnd> unfit(const Socket& sk) noexcept {
        if (sk.state != SocketState::established || sk.done || sk.shutdown != 0 ||
            sk.peer_shutdown != 0)
            return BatchEnd::state_change;
        if (sk.transport != &kVirtioTransport) return BatchEnd::transport_change;
        if (sk.protocol != &kVsockProtocol) return BatchEnd::protocol_change;
        if (!sk.native_callbacks()) return BatchEnd::callback_change;
        if (sk.psock != nullptr) return BatchEnd::sockmap;
        return std::nullopt;
    }

    std::optional<BatchEnd> ends(const Packet& packet) noexcept {
        if (packet.source() != owner_->remote || packet.header.dst_port != owner_->local.port)
            return BatchEnd::flow_change;
        if (const auto why = unfit(packet.header)) return why;
        if (const auto why = unfit(*owner_)) return why;
        if (packet.header.len > limits_.max_bytes) return BatchEnd::oversize;
        if (bytes_ + packet.header.len > limits_.max_bytes) return BatchEnd::max_bytes;
        if (!owner_->rx.has_room(packet.header.len)) return BatchEnd::receive_limit;
        return std::nullopt;
    }

    void begin(const Packet& packet, Current& me) noexcept {
        if (unfit(packet.header) || packet.header.len > limits_.max_bytes) {
            recv_pkt(ctx_, packet, me);
            return;
        }
        Socket* sk = ctx_.tables.find_connected(packet.source(), packet.destination(), me);
        if (sk == nullptr) {
            recv_pkt_bound(ctx_, packet, me);
            return;
        }
        if (sk->type != packet.header.type) {
            recv_pkt_to(ctx_, sk, packet, me);
            return;
        }
        if (!sk->lock.lock(me)) {  // the trial was given up
            ctx_.pool.free(*packet.skb, me);
            sk->put(me);
            return;
        }
        if (unfit(*sk) || !sk->rx.has_room(packet.header.len)) {
            recv_pkt_locked(ctx_, *sk, packet, me);
            return;
        }
        owner_ = sk;
        bytes_ = 0;
        packets_ = 0;
        notify_.begin();
        append(packet, me);
    }

    void append(const Packet& packet, Current& me) noexcept {
        Socket& sk = *owner_;
        bytes_ += packet.header.len;
        ++packets_;
        if (sk.tx.update(packet.header.buf_alloc, packet.header.fwd_cnt)) notify_.space(sk, me);
        if (recv_enqueue(ctx_, sk, packet, me)) notify_.data(sk, me);
        if (packets_ == limits_.max_pkts) end(BatchEnd::max_pkts, me);
    }

    void end(BatchEnd why, Current& me) noexcept {
        Socket& sk = *owner_;
        owner_ = nullptr;
        ++me.counts.batches;
        me.counts.batched_packets += packets_;
        ++me.counts.batch_ends[static_cast<std::size_t>(why)];
        ++sizes_[packets_];
        notify_.before_release(sk, me);
        sk.lock.unlock(me);
        notify_.after_release(sk, me);
        sk.put(me);
    }

    ReceiveContext& ctx_;
    const BatchLimits limits_;
    Socket* owner_ = nullptr;  // locked and referenced while set
    std::uint32_t packets_ = 0;
    std::uint64_t bytes_ = 0;
    Notify notify_;
    std::vector<std::uint64_t> sizes_;
};

}  // namespace vsb::engine
