#pragma once
// The device's half of a split virtqueue in a guest's memory: chains of descriptors, with every
// index and address checked as vhost_get_vq_desc() (drivers/vhost/vhost.c) checks them. The layout
// and the event arithmetic are the engine's (engine/ring/vring.h). One thread at a time.
//
// A ring whose driver broke the rules is broken for good: pop() says so and gives nothing more.

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/ring/vring.h"
#include "harness/guest/memory.h"

namespace vsb::guest {

struct Segment {
    std::byte* data = nullptr;
    std::uint32_t size = 0;
};

// One chain: what the device may read, then what it may write.
struct Chain {
    static constexpr std::size_t kMaxSegments = 64;  // 64 KiB in pages, header, and to spare
    std::uint16_t head = 0;
    std::size_t readable = 0;
    std::size_t writable = 0;
    std::uint64_t readable_bytes = 0;
    std::uint64_t writable_bytes = 0;
    std::array<Segment, kMaxSegments> segments;  // the readable ones first
};

// Where a driver says its ring is, before it is believed.
struct RingAddresses {
    std::uint64_t descriptors = 0;  // all in the machine's address space
    std::uint64_t avail = 0;
    std::uint64_t used = 0;
};

class GuestQueue {
  public:
    enum class Pop : std::uint8_t { none, chain, broken };
    static constexpr std::uint16_t kMaxSize = 1024;

    // False, and no ring, when size is no power of two up to kMaxSize or a part of the ring lies
    // outside the memory or is not aligned. `memory` must outlive the ring's use.
    bool start(const GuestMemory& memory, const RingAddresses& addresses, std::uint16_t size,
               std::uint16_t first_index, bool event_idx) noexcept;
    void stop() noexcept { running_ = false; }
    bool running() const noexcept { return running_ && !broken_; }
    bool broken() const noexcept { return broken_; }
    std::uint16_t next_index() const noexcept { return last_avail_; }

    bool more_avail() const noexcept;
    // The next posted chain. After Pop::broken the ring is not running.
    Pop pop(Chain& chain) noexcept;
    // Gives a chain back; the driver sees it from the next publish() on.
    void put(std::uint16_t head, std::uint32_t written) noexcept;
    void publish() noexcept;
    // Does the driver want an interrupt for what was published since the last call?
    bool signal_needed() noexcept;

    void disable_notify() noexcept;
    // Asks for a kick at the next posted chain. True if there is one already.
    bool enable_notify() noexcept;

  private:
    bool follow(Chain& chain, std::uint16_t head) noexcept;
    const GuestMemory* memory_ = nullptr;
    engine::Vring ring_;
    bool running_ = false;
    bool broken_ = false;
    std::uint16_t last_avail_ = 0;
    std::uint16_t put_ = 0;        // used entries written
    std::uint16_t published_ = 0;  // and seen by the driver
    std::uint16_t signalled_ = 0;
};

// Copies within a chain's segments; bounded by the smaller side; return the bytes copied.
std::size_t gather(const Chain& chain, std::uint64_t offset, std::byte* to,
                   std::size_t size) noexcept;
std::size_t scatter(const Chain& chain, std::uint64_t offset, const std::byte* from,
                    std::size_t size) noexcept;

}  // namespace vsb::guest
