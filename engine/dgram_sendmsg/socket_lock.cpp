#include "engine/vsock/socket_lock.h"
#include "engine/dgram_sendmsg/send.h"

namespace vsb::engine::dgram_sendmsg {
namespace {

class SocketLockSend final : public Send {
  public:
    SocketLockSend(const Remote& remote, Ports& ports) : remote_(remote), ports_(ports) {}

    bool send(const Message& message, Current& me) noexcept override {
        if (!lock_.lock(me)) return false;
        auto_bind();
        const bool sent = remote_.transport->dgram_enqueue(local_, remote_.address, message, me);
        lock_.unlock(me);
        return sent;
    }

    bool connect(const Remote& remote, Current& me) noexcept override {
        if (!lock_.lock(me)) return false;
        auto_bind();
        remote_ = remote;
        ++counts_.records_replaced;
        lock_.unlock(me);
        return true;
    }

    SendCounts counts() noexcept override { return counts_; }

  private:
    void auto_bind() noexcept {
        if (local_.port != kPortAny) return;
        local_.port = ports_.allocate();
        ++counts_.auto_binds;
    }

    SocketLock lock_;  // guards everything below
    Address local_{kCidLocal, kPortAny};
    Remote remote_;
    Ports& ports_;
    SendCounts counts_;
};

}  // namespace

std::unique_ptr<Send> make_socket_lock(const Remote& remote, Ports& ports) {
    return std::make_unique<SocketLockSend>(remote, ports);
}

}  // namespace vsb::engine::dgram_sendmsg
