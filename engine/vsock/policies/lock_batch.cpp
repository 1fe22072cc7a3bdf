// One look-up and one lock a batch; write-space and data-ready stay per packet, under the lock.

#include "engine/vsock/batch.h"

namespace vsb::engine {
namespace {

struct PerPacketUnderLock {
    void begin() noexcept {}
    void space(Socket& sk, Current& me) noexcept {
        sk.write_space.load(std::memory_order_relaxed)(sk, me);
    }
    void data(Socket& sk, Current& me) noexcept {
        vsock_data_ready(sk, sk.data_ready.load(std::memory_order_relaxed), me);
    }
    void before_release(Socket&, Current&) noexcept {}
    void after_release(Socket&, Current&) noexcept {}
};

}  // namespace

std::unique_ptr<Policy> make_lock_batch(ReceiveContext& ctx, const PolicySettings& settings) {
    return std::make_unique<BatchPolicy<PerPacketUnderLock>>(ctx, settings.limits);
}

}  // namespace vsb::engine
