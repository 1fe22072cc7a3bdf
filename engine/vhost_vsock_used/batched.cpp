#include "engine/vhost_vsock_used/publish.h"

namespace vsb::engine::vhost_vsock_used {
namespace {

class Batched final : public Publish {
  public:
    Batched(DeviceQueue& queue, std::size_t limit) : queue_(queue), heads_(limit) {
        counts_.sizes.resize(limit + 1);
    }

    void add(std::uint16_t head, std::uint32_t written) noexcept override {
        heads_[held_++] = {head, written};
        if (held_ == heads_.size()) flush(Flush::full);
    }

    void flush(Flush reason) noexcept override {
        if (held_ == 0) return;
        queue_.push_n({heads_.data(), held_});
        counts_.entries += held_;
        ++counts_.publications;
        ++counts_.flushes[static_cast<std::size_t>(reason)];
        ++counts_.sizes[held_];
        held_ = 0;
    }

    std::size_t held() const noexcept override { return held_; }
    PublishCounts counts() const override { return counts_; }

  private:
    DeviceQueue& queue_;
    std::vector<VringUsedElem> heads_;  // vq->heads
    std::size_t held_ = 0;
    PublishCounts counts_;
};

}  // namespace

std::unique_ptr<Publish> make_batched(DeviceQueue& queue, std::size_t limit) {
    return std::make_unique<Batched>(queue, limit);
}

}  // namespace vsb::engine::vhost_vsock_used
