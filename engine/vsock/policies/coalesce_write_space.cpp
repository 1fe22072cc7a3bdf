// As lock-batch, with one write-space notification a batch, under the lock, through the callback
// saved when the socket was created: the batch was opened for that one, whatever replaced it since.

#include "engine/vsock/batch.h"

namespace vsb::engine {
namespace {

class OneWriteSpace {
  public:
    void begin() noexcept { space_ = false; }
    void space(Socket&, Current&) noexcept { space_ = true; }
    void data(Socket& sk, Current& me) noexcept {
        vsock_data_ready(sk, sk.data_ready.load(std::memory_order_relaxed), me);
    }
    void before_release(Socket& sk, Current& me) noexcept {
        if (space_) sk.saved_write_space(sk, me);
    }
    void after_release(Socket&, Current&) noexcept {}

  private:
    bool space_ = false;
};

}  // namespace

std::unique_ptr<Policy> make_coalesce_write_space(ReceiveContext& ctx,
                                                  const PolicySettings& settings) {
    return std::make_unique<BatchPolicy<OneWriteSpace>>(ctx, settings.limits);
}

}  // namespace vsb::engine
