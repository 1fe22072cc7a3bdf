#pragma once
// The program on the host: the sender of a throughput run, or the client of a ping-pong. It runs
// on the device side's thread.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/vsock/pattern.h"

namespace vsb::engine {

class HostProgram {
  public:
    virtual ~HostProgram() = default;
    // Size of the next write(), or 0: none now. Called when the last one has been taken in full.
    virtual std::uint64_t next_write() noexcept = 0;
    virtual bool finished() const noexcept = 0;
    // Puts the next `n` bytes of the current write at `to`; n <= Pattern::kLongest.
    virtual void put(std::byte* to, std::uint32_t n) noexcept = 0;
    // Bytes from the guest.
    virtual void got(const std::byte* from, std::uint32_t n) noexcept = 0;
};

// `writes` writes of `payload` bytes each, the pattern's from `start` on.
class Sender final : public HostProgram {
  public:
    Sender(const Pattern& pattern, std::uint64_t payload, std::uint64_t writes,
           std::uint64_t start = 0) noexcept
        : cursor_(pattern, start), payload_(payload), left_(writes) {}
    std::uint64_t next_write() noexcept override;
    bool finished() const noexcept override { return left_ == 0; }
    void put(std::byte* to, std::uint32_t n) noexcept override;
    void got(const std::byte*, std::uint32_t n) noexcept override { unexpected_ += n; }

    std::uint64_t unexpected_bytes() const noexcept { return unexpected_; }

  private:
    PatternCursor cursor_;
    std::uint64_t payload_;
    std::uint64_t left_;
    std::uint64_t unexpected_ = 0;
};

// Sends a request, waits for its echo, checks it, sends the next. A sample lasts from just before
// the request is written to just after the last byte of its echo was taken.
class PingPong final : public HostProgram {
  public:
    PingPong(const Pattern& pattern, std::uint64_t payload, std::uint64_t warmup,
             std::uint64_t requests);
    std::uint64_t next_write() noexcept override;
    bool finished() const noexcept override { return done_ == warmup_ + requests_; }
    void put(std::byte* to, std::uint32_t n) noexcept override;
    void got(const std::byte* from, std::uint32_t n) noexcept override;

    bool echo_matches() const noexcept { return matches_; }
    // Of the requests after the warm-up, in order.
    std::vector<std::uint64_t>& samples_ns() noexcept { return samples_; }

  private:
    PatternCursor sent_;
    PatternCursor echoed_;
    const std::uint64_t payload_;
    const std::uint64_t warmup_;
    const std::uint64_t requests_;
    std::uint64_t done_ = 0;
    std::uint64_t echo_left_ = 0;
    std::uint64_t started_ns_ = 0;
    bool matches_ = true;
    std::vector<std::uint64_t> samples_;
};

}  // namespace vsb::engine
