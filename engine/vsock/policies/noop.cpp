// The floor: ring, header checks, one copy out and the credit that keeps the sender going; no
// look-up, no socket lock, no queue, no notification. The worker hands the bytes straight to the
// program. Whatever is not payload of the one connection takes the ordinary path.

#include <array>
#include <cstring>

#include "engine/sync/virtual_time.h"
#include "engine/vsock/policy.h"
#include "engine/vsock/socket_calls.h"

namespace vsb::engine {
namespace {

class Noop final : public Policy {
  public:
    Noop(ReceiveContext& ctx, ByteSink* sink) : ctx_(ctx), sink_(sink), copy_(kCopyBytes) {}
    ~Noop() override {
        Current nobody;
        if (sk_ != nullptr) sk_->put(nobody);
    }

    void receive(const Packet& packet, Current& me) noexcept override {
        if (packet.header.op != Op::rw || packet.header.type != PacketType::stream) {
            recv_pkt(ctx_, packet, me);
            return;
        }
        if (sk_ == nullptr) {  // once a trial
            sk_ = ctx_.tables.find_connected(packet.source(), packet.destination(), me);
            if (sk_ == nullptr) {
                recv_pkt_bound(ctx_, packet, me);
                return;
            }
        }
        sk_->tx.update(packet.header.buf_alloc, packet.header.fwd_cnt);
        const std::uint32_t len = packet.header.len;
        if (sink_ != nullptr) pay(Cost::copy_byte, len);
        if (sink_ != nullptr) std::memcpy(copy_.data(), packet.skb->payload(), len);
        ctx_.pool.free(*packet.skb, me);
        if (sk_->rx.bypass(len)) {
            ++me.counts.credit_updates;
            send_control(ctx_, *sk_, Op::credit_update, 0, false, me);
        }
        if (sink_ != nullptr) sink_->take(copy_.data(), len, me);
    }

  private:
    static constexpr std::size_t kCopyBytes = 65536;  // no packet is larger
    ReceiveContext& ctx_;
    ByteSink* sink_;
    Socket* sk_ = nullptr;
    std::vector<std::byte> copy_;
};

}  // namespace

std::unique_ptr<Policy> make_noop(ReceiveContext& ctx, const PolicySettings& settings) {
    return std::make_unique<Noop>(ctx, settings.sink);
}

}  // namespace vsb::engine
