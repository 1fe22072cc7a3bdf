#pragma once
// The program in the guest: reads until the end of the stream, checks every byte against the
// pattern, and in a ping-pong sends each complete request back.

#include <cstdint>
#include <vector>

#include "engine/vsock/pattern.h"
#include "engine/vsock/policy.h"
#include "engine/vsock/socket_calls.h"

namespace vsb::engine {

class GuestProgram final : public ByteSink {
  public:
    struct Plan {
        std::uint64_t total_bytes = 0;
        std::uint64_t echo_bytes = 0;  // request size of a ping-pong; 0: send nothing back
        std::uint32_t recv_bytes = 65536;
        bool noop_discards = false;  // noop drops the bytes uncopied and unchecked: a bare floor
        std::uint64_t pattern_start = 0;  // where in the pattern the stream begins
    };

    // Takes over one reference of `sk`.
    GuestProgram(ReceiveContext& ctx, Socket& sk, const Pattern& pattern, const Plan& plan);
    ~GuestProgram() override;

    // The receiver thread's whole life: recv() until it returns 0, then close(). Returns early
    // when a byte differs or the task is interrupted.
    void run(Current& me) noexcept;

    // What recv() returned; the noop policy calls it on the worker's thread.
    void take(const std::byte* bytes, std::uint32_t size, Current& me) noexcept override;

    std::uint64_t received_bytes() const noexcept { return received_; }
    std::uint64_t last_byte_ns() const noexcept { return last_byte_ns_; }
    std::uint64_t first_recv_ns() const noexcept { return first_recv_ns_; }
    std::uint64_t end_ns() const noexcept { return end_ns_; }
    bool ended() const noexcept { return ended_; }  // recv() returned 0
    bool matches() const noexcept { return matches_; }
    std::uint64_t mismatch_at() const noexcept { return mismatch_at_; }

  private:
    ReceiveContext& ctx_;
    Socket& sk_;
    PatternCursor cursor_;
    const Plan plan_;
    std::vector<std::byte> buffer_;
    std::vector<std::byte> request_;
    std::uint64_t request_bytes_ = 0;
    std::uint64_t received_ = 0;
    std::uint64_t last_byte_ns_ = 0;
    std::uint64_t first_recv_ns_ = 0;
    std::uint64_t end_ns_ = 0;
    std::uint64_t mismatch_at_ = 0;
    bool ended_ = false;
    bool closed_ = false;
    bool matches_ = true;
};

}  // namespace vsb::engine
