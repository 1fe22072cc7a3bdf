// The baseline: virtio_transport_recv_pkt for every packet.

#include "engine/vsock/policy.h"

namespace vsb::engine {
namespace {

class PerPacket final : public Policy {
  public:
    explicit PerPacket(ReceiveContext& ctx) : ctx_(ctx) {}
    void receive(const Packet& packet, Current& me) noexcept override {
        recv_pkt(ctx_, packet, me);
    }

  private:
    ReceiveContext& ctx_;
};

}  // namespace

std::unique_ptr<Policy> make_per_packet(ReceiveContext& ctx, const PolicySettings&) {
    return std::make_unique<PerPacket>(ctx);
}

}  // namespace vsb::engine
