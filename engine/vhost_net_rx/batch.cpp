#include "engine/vhost_net_rx/dequeue.h"

namespace vsb::engine::vhost_net_rx {
namespace {

class Batch final : public Dequeue {
  public:
    Batch(PtrRing<Packet>& ring, std::size_t batch)
        : ring_(ring), queue_(batch), sizes_(batch + 1) {}

    // vhost_net_buf_peek(): served from the local array; the ring is asked only when that is empty,
    // also after a short refill, since short does not mean that the ring is empty now.
    std::uint32_t peek_length() noexcept override {
        if (head_ == tail_ && produce() == 0) return 0;
        return queue_[head_]->length;
    }

    Packet* take() noexcept override { return queue_[head_++]; }

    Left stop(const std::function<void(Packet*)>& free) noexcept override {
        const std::size_t unserved = tail_ - head_;
        const std::size_t freed = ring_.unconsume({queue_.data() + head_, unserved},
                                                  [&](Packet* packet) { free(packet); });
        head_ = tail_ = 0;
        return {unserved - freed, freed};
    }

    std::vector<std::uint64_t> batch_sizes() const override { return sizes_; }
    std::uint64_t refills_short() const noexcept override {
        std::uint64_t n = 0;
        for (std::size_t i = 1; i + 1 < sizes_.size(); ++i)
            n += sizes_[i];
        return n;
    }

  private:
    std::size_t produce() noexcept {
        head_ = 0;
        tail_ = ring_.consume_batched(queue_);
        sizes_[tail_] += tail_ > 0 ? 1 : 0;
        return tail_;
    }

    PtrRing<Packet>& ring_;
    std::vector<Packet*> queue_;
    std::size_t head_ = 0;
    std::size_t tail_ = 0;
    std::vector<std::uint64_t> sizes_;
};

}  // namespace

std::unique_ptr<Dequeue> make_batch(PtrRing<Packet>& ring, std::size_t batch) {
    return std::make_unique<Batch>(ring, batch);
}

}  // namespace vsb::engine::vhost_net_rx
