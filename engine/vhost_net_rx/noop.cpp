#include "engine/vhost_net_rx/dequeue.h"

namespace vsb::engine::vhost_net_rx {
namespace {

class Noop final : public Dequeue {
  public:
    explicit Noop(PtrRing<Packet>& ring) : ring_(ring) {}

    std::uint32_t peek_length() noexcept override {
        const Packet* const head = ring_.peek_unlocked();
        return head == nullptr ? 0 : head->length;
    }

    Packet* take() noexcept override {
        ++taken_;
        return ring_.consume_unlocked();
    }

    Left stop(const std::function<void(Packet*)>&) noexcept override { return {}; }

    std::vector<std::uint64_t> batch_sizes() const override { return {0, taken_}; }

  private:
    PtrRing<Packet>& ring_;
    std::uint64_t taken_ = 0;
};

}  // namespace

std::unique_ptr<Dequeue> make_noop(PtrRing<Packet>& ring) {
    return std::make_unique<Noop>(ring);
}

}  // namespace vsb::engine::vhost_net_rx
