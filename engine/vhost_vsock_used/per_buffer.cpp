#include "engine/vhost_vsock_used/publish.h"

namespace vsb::engine::vhost_vsock_used {
namespace {

class PerBuffer final : public Publish {
  public:
    explicit PerBuffer(DeviceQueue& queue) : queue_(queue) {}

    void add(std::uint16_t head, std::uint32_t written) noexcept override {
        queue_.push(head, written);
        ++entries_;
    }
    void flush(Flush) noexcept override {}
    std::size_t held() const noexcept override { return 0; }
    PublishCounts counts() const override { return {entries_, entries_, {}, {0, entries_}}; }

  private:
    DeviceQueue& queue_;
    std::uint64_t entries_ = 0;
};

}  // namespace

std::unique_ptr<Publish> make_per_buffer(DeviceQueue& queue) {
    return std::make_unique<PerBuffer>(queue);
}

}  // namespace vsb::engine::vhost_vsock_used
