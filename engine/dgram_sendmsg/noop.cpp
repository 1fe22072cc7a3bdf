#include "engine/dgram_sendmsg/send.h"

namespace vsb::engine::dgram_sendmsg {
namespace {

class NoopSend final : public Send {
  public:
    NoopSend(const Remote& remote, Ports& ports)
        : remote_(remote), local_{kCidLocal, ports.allocate()} {}

    bool send(const Message& message, Current& me) noexcept override {
        return remote_.transport->dgram_enqueue(local_, remote_.address, message, me);
    }

    bool connect(const Remote&, Current&) noexcept override { return false; }

    SendCounts counts() noexcept override { return {}; }

  private:
    const Remote remote_;
    const Address local_;
};

}  // namespace

std::unique_ptr<Send> make_noop(const Remote& remote, Ports& ports) {
    return std::make_unique<NoopSend>(remote, ports);
}

}  // namespace vsb::engine::dgram_sendmsg
