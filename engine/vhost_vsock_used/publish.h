#pragma once
// How the vhost worker tells the guest which buffers it filled: the policies of vhost-vsock-used.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/ring/device_queue.h"

namespace vsb::engine::vhost_vsock_used {

// Why entries that were held back are published now.
enum class Flush : std::uint8_t {
    full,         // the limit is reached
    queue_empty,  // nothing left to send, before notifications are enabled again
    no_buffers,   // the guest has posted none, before notifications are enabled again
    look_again,   // one was posted meanwhile, before it is taken
    error,        // a buffer that cannot be used
    leave,        // the worker's run ends
};
inline constexpr std::size_t kFlushes = 6;
std::string_view name(Flush reason) noexcept;

struct PublishCounts {
    std::uint64_t entries = 0;
    std::uint64_t publications = 0;                 // index updates
    std::array<std::uint64_t, kFlushes> flushes{};  // those that published something, by reason
    std::vector<std::uint64_t> sizes;               // [n]: publications of n entries
};

class Publish {
  public:
    Publish() = default;
    Publish(const Publish&) = delete;
    Publish& operator=(const Publish&) = delete;
    virtual ~Publish() = default;

    // The buffer `head` holds `written` bytes.
    virtual void add(std::uint16_t head, std::uint32_t written) noexcept = 0;
    // After this the guest can see everything added so far.
    virtual void flush(Flush reason) noexcept = 0;
    // Entries the guest cannot see yet.
    virtual std::size_t held() const noexcept = 0;
    virtual PublishCounts counts() const = 0;
};

// min(ring size, iov limit, packet weight): the heads must fit vq->heads and one worker run.
constexpr std::size_t batch_limit(std::size_t ring, std::size_t iov, std::size_t weight) noexcept {
    return ring < iov ? (ring < weight ? ring : weight) : (iov < weight ? iov : weight);
}

// vhost_add_used() a buffer.
std::unique_ptr<Publish> make_per_buffer(DeviceQueue& queue);
// Heads and lengths collected, vhost_add_used_n() at a flush. limit >= 1.
std::unique_ptr<Publish> make_batched(DeviceQueue& queue, std::size_t limit);
// As few index updates as can be, one a run or a ring: the floor. The worker sends no signals.
std::unique_ptr<Publish> make_noop(DeviceQueue& queue, std::size_t ring);

}  // namespace vsb::engine::vhost_vsock_used
