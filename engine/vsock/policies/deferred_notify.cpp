// As coalesce-write-space, with write-space and then data-ready once a batch, after the lock is
// released and before the reference is dropped: a receiver that wakes finds the lock free. Both go
// through the callbacks saved at creation, which were in force when the packets were queued.

#include "engine/vsock/batch.h"

namespace vsb::engine {
namespace {

class AfterRelease {
  public:
    void begin() noexcept { space_ = data_ = false; }
    void space(Socket&, Current&) noexcept { space_ = true; }
    void data(Socket&, Current&) noexcept { data_ = true; }
    void before_release(Socket&, Current&) noexcept {}
    void after_release(Socket& sk, Current& me) noexcept {
        if (space_) sk.saved_write_space(sk, me);
        if (data_) vsock_data_ready(sk, sk.saved_data_ready, me);
    }

  private:
    bool space_ = false;
    bool data_ = false;
};

}  // namespace

std::unique_ptr<Policy> make_deferred_notify(ReceiveContext& ctx, const PolicySettings& settings) {
    return std::make_unique<BatchPolicy<AfterRelease>>(ctx, settings.limits);
}

}  // namespace vsb::engine
