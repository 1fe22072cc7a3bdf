#pragma once
// The device's half of a split virtqueue: vhost_get_vq_desc, vhost_add_used, vhost_notify,
// vhost_disable_notify and vhost_enable_notify of drivers/vhost/vhost.c, over one descriptor a
// buffer. Left out: chains, indirect tables, logging. One thread at a time.

#include <cstdint>
#include <span>

#include "engine/ring/vring.h"

namespace vsb::engine {

class DeviceQueue {
  public:
    struct Buffer {
        std::uint16_t head = 0;
        std::uint64_t addr = 0;  // as the driver wrote it: the caller translates
        std::uint32_t len = 0;
        bool device_writes = false;
    };

    explicit DeviceQueue(Vring ring, std::uint16_t first_index = 0) noexcept
        : ring_(ring), last_avail_(first_index), used_(first_index), signalled_(first_index) {}

    bool more_avail() const noexcept {
        return ring_.avail_idx().load(std::memory_order_acquire) != last_avail_;
    }
    // Takes the next posted buffer. False when there is none. A head out of range is skipped.
    bool pop(Buffer& buffer) noexcept;
    // vhost_add_used: writes one entry and publishes it.
    void push(std::uint16_t head, std::uint32_t written) noexcept;
    // vhost_add_used_n: writes all entries and publishes them with one index update. At most a
    // ring's worth.
    void push_n(std::span<const VringUsedElem> entries) noexcept;
    // vhost_notify: does the driver want an interrupt for what was pushed since the last call?
    bool signal_needed() noexcept;

    void disable_notify() noexcept;
    // Asks for a kick at the next posted buffer. True if there is one already.
    bool enable_notify() noexcept;

  private:
    bool take(Buffer& buffer) noexcept;
    void publish() noexcept;
    // What the two do under the virtual clock; by themselves, so that the measured path keeps no
    // frame for calls that it never makes.
    [[gnu::cold, gnu::noinline]] bool meet_and_take(Buffer& buffer) noexcept;
    [[gnu::cold, gnu::noinline]] void spend_and_publish() noexcept;

    Vring ring_;
    std::uint16_t last_avail_;
    std::uint16_t used_;
    std::uint16_t signalled_;
};

}  // namespace vsb::engine
