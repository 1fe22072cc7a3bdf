#include <mutex>

#include "engine/vhost_net_rx/dequeue.h"

namespace vsb::engine::vhost_net_rx {
namespace {

class PerSkb final : public Dequeue {
  public:
    explicit PerSkb(PtrRing<Packet>& ring) : ring_(ring) {}

    // PTR_RING_PEEK_CALL: the length is read under the lock, since another consumer could free the
    // packet once the lock is dropped.
    std::uint32_t peek_length() noexcept override {
        const std::lock_guard hold(ring_.consumer_lock());
        const Packet* const head = ring_.peek_unlocked();
        return head == nullptr ? 0 : head->length;
    }

    Packet* take() noexcept override {
        ++taken_;
        return ring_.consume();
    }

    Left stop(const std::function<void(Packet*)>&) noexcept override { return {}; }

    std::vector<std::uint64_t> batch_sizes() const override { return {0, taken_}; }

  private:
    PtrRing<Packet>& ring_;
    std::uint64_t taken_ = 0;
};

}  // namespace

std::unique_ptr<Dequeue> make_per_skb(PtrRing<Packet>& ring) {
    return std::make_unique<PerSkb>(ring);
}

}  // namespace vsb::engine::vhost_net_rx
