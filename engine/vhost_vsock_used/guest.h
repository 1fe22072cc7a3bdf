#pragma once
// The guest: posts RX buffers, takes used ones and checks every length and every byte. Mirrors
// virtio_transport_rx_work() and virtio_vsock_rx_fill() of net/vmw_vsock/virtio_transport.c, with
// the check in place of the delivery to a socket.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/ring/driver_queue.h"
#include "engine/sync/doorbell.h"
#include "engine/trial/pattern.h"
#include "engine/trial/trial.h"

namespace vsb::engine::vhost_vsock_used {

// What must arrive: `writes` writes of `payload` bytes, in order, each cut into packets of at most
// 64 KiB and those into buffers.
struct Stream {
    std::uint64_t writes = 0;
    std::uint64_t payload = 0;
};

struct GuestCounts {
    std::uint64_t runs = 0;
    std::uint64_t buffers = 0;  // taken and found right
    std::uint64_t bytes = 0;    // payload
    std::uint64_t refills = 0;
    std::uint64_t kicks = 0;
    std::uint64_t sleeps = 0;
    std::uint64_t wake_system_calls = 0;
    std::uint64_t first_ns = 0;  // the first used buffer was seen
    std::uint64_t last_ns = 0;   // the last byte was checked
};

class Guest {
  public:
    // `buffers` buffers of `buffer_bytes`, posted at once. `kick` is rung for the worker.
    Guest(DriverQueue& driver, std::size_t buffers, std::size_t buffer_bytes, const Stream& stream,
          const trial::Pattern& pattern, Doorbell& kick);

    // Takes used buffers until there are none; then posts them again if fewer than half are left
    // posted. Returns what was wrong with the first bad one, or nothing.
    std::string run(bool notifies);
    bool complete() const noexcept { return write_ == stream_.writes; }

    // Runs until the stream is complete or the trial ends; sleeps on `signal` between signals,
    // or, without notifications, polls.
    void receive_all(bool notifies, Doorbell& signal, Task& task, trial::Trial& trial);

    const GuestCounts& counts() const noexcept { return counts_; }

  private:
    std::string check(const std::byte* buffer, std::uint32_t used);
    void refill(bool notifies);

    DriverQueue& driver_;
    const std::size_t buffer_bytes_;
    const Stream stream_;
    const trial::Pattern& pattern_;
    Doorbell& kick_;
    std::vector<std::byte> memory_;
    std::vector<std::byte*> taken_;  // to be posted again
    std::size_t posted_;
    std::size_t all_;
    std::uint64_t write_ = 0;   // under way
    std::uint64_t offset_ = 0;  // in it
    GuestCounts counts_;
};

}  // namespace vsb::engine::vhost_vsock_used
