#include "engine/vhost_net_rx/guest.h"

namespace vsb::engine::vhost_net_rx {
namespace {

constexpr std::uint16_t kBuffers = 256;  // virtio-net's rx_queue_size

}  // namespace

Guest::Guest(std::size_t buffer_bytes)
    : buffer_bytes_(buffer_bytes),
      memory_(kBuffers, true),
      driver_(memory_.ring()),
      device_(memory_.ring()),
      buffers_(kBuffers * buffer_bytes) {
    driver_.disable_cb();
    for (std::size_t i = 0; i < kBuffers; ++i)
        post_again(buffers_.data() + i * buffer_bytes);
}

DeviceQueue::Buffer Guest::next_buffer() noexcept {
    DeviceQueue::Buffer buffer;
    device_.pop(buffer);
    return buffer;
}

Guest::Used Guest::take_used() noexcept {
    if (polled_++ == kBudget) {
        polled_ = 1;
        driver_.disable_cb();  // virtqueue_napi_schedule(): the next poll
    }
    Used used;
    used.bytes = static_cast<std::byte*>(driver_.get_buf(used.length));
    return used;
}

void Guest::post_again(std::byte* bytes) noexcept {
    driver_.add(bytes, bytes, static_cast<std::uint32_t>(buffer_bytes_), true);
}

}  // namespace vsb::engine::vhost_net_rx
