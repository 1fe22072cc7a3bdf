#pragma once
// What the host's side does in one trial: a state machine over VsockHost's streams, driven by the
// device's thread. The device asks next() for the data to send whenever a buffer of the guest's is
// free; everything else happens in events.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/guest/vsock_host.h"
#include "transport/payload.h"

namespace vsb::guest {

// A piece of payload to put into one packet.
struct Piece {
    Stream* stream = nullptr;
    const std::byte* data = nullptr;
    std::uint32_t size = 0;
};

class Job : public StreamEvents {
  public:
    // now(): CLOCK_MONOTONIC in ns; a test injects its own.
    using Clock = std::uint64_t (*)();
    Job(VsockHost& host, Clock now) : host_(host), now_(now) {}
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    virtual void start() = 0;
    // At most `room` payload bytes of one write, as far as the guest's credit reaches; nullopt:
    // nothing to send now.
    virtual std::optional<Piece> next(std::uint32_t room) = 0;
    // The piece is in the ring; `at_ns` is a time just before the guest could see it.
    virtual void sent(const Piece& piece, std::uint64_t at_ns) = 0;
    // Called when nothing happens for a while: connects again where nobody listened.
    virtual void tick() = 0;

    bool done() const { return done_; }
    const std::string& failure() const { return failure_; }  // why it is done without a result
    void fail(const std::string& why);
    // Grows while the trial makes progress; read by other threads.
    std::uint64_t progress() const { return progress_.load(std::memory_order_relaxed); }
    // Times that sending had to wait for the guest's credit.
    std::uint64_t credit_waits() const { return credit_waits_; }

  protected:
    void finish() { done_ = true; }
    void advance(std::uint64_t by) { progress_.store(progress() + by, std::memory_order_relaxed); }
    std::uint32_t credit(Stream& stream, std::uint32_t wanted);

    VsockHost& host_;
    Clock now_;

  private:
    bool done_ = false;
    bool waiting_ = false;
    std::string failure_;
    std::uint64_t credit_waits_ = 0;
    std::atomic<std::uint64_t> progress_{0};
};

struct SendPlan {
    std::uint32_t port = 0;
    std::uint64_t writes = 1;
    std::uint64_t payload_bytes =
        64;  // of a write: one packet, or several when buffers are smaller
    std::uint64_t seed = 1;
};

// Sends the plan's writes as fast as the guest takes them, ends the stream, and waits until the
// receiver has closed its side.
class SendJob final : public Job {
  public:
    SendJob(VsockHost& host, Clock now, const SendPlan& plan);
    void start() override;
    std::optional<Piece> next(std::uint32_t room) override;
    void sent(const Piece& piece, std::uint64_t at_ns) override;
    void tick() override;
    void opened(Stream& stream) override;
    void refused(Stream& stream) override;
    void data(Stream& stream, std::span<const std::byte> bytes) override;
    void closed(Stream& stream, bool reset) override;

    std::uint64_t bytes() const { return bytes_; }
    std::uint64_t planned_bytes() const { return plan_.writes * plan_.payload_bytes; }
    std::uint64_t packets() const { return packets_; }
    std::uint64_t first_ns() const { return first_ns_; }
    std::uint64_t last_ns() const { return last_ns_; }

  private:
    SendPlan plan_;
    transport::Payload payload_;
    Stream* stream_ = nullptr;
    bool connect_again_ = false;
    std::uint64_t bytes_ = 0;
    std::uint64_t packets_ = 0;
    std::uint64_t first_ns_ = 0;
    std::uint64_t last_ns_ = 0;
};

struct ReceivePlan {
    std::uint32_t port = 0;
    std::uint64_t bytes = 1;
    std::uint64_t seed = 1;
    bool verify = true;  // every byte, against the seed's
};

// Takes one stream that the guest's sender opens, to its end.
class ReceiveJob final : public Job {
  public:
    ReceiveJob(VsockHost& host, Clock now, const ReceivePlan& plan);
    void start() override { host_.listen(plan_.port); }
    std::optional<Piece> next(std::uint32_t) override { return {}; }
    void sent(const Piece&, std::uint64_t) override {}
    void tick() override {}
    void opened(Stream& stream) override;
    void refused(Stream&) override {}
    void data(Stream& stream, std::span<const std::byte> bytes) override;
    void ended(Stream& stream) override { host_.shutdown_send(stream); }  // it waits for our end
    void closed(Stream& stream, bool reset) override;

    std::uint64_t bytes() const { return bytes_; }

  private:
    ReceivePlan plan_;
    transport::Payload payload_;
    Stream* stream_ = nullptr;
    std::uint64_t bytes_ = 0;
};

struct PingPlan {
    std::uint32_t port = 0;
    std::uint64_t requests = 100;
    std::uint64_t warmup = 10;
    std::uint64_t payload_bytes = 64;
    std::uint64_t seed = 1;
    std::string nonce;
};

// The client of vsb-pingpong's server, in the device's thread: no wake-up of another host thread is
// part of a sample.
class PingJob final : public Job {
  public:
    PingJob(VsockHost& host, Clock now, const PingPlan& plan);
    void start() override;
    std::optional<Piece> next(std::uint32_t room) override;
    void sent(const Piece& piece, std::uint64_t at_ns) override;
    void tick() override;
    void opened(Stream& stream) override;
    void refused(Stream& stream) override;
    void data(Stream& stream, std::span<const std::byte> bytes) override;
    void closed(Stream& stream, bool reset) override;

    const std::vector<std::uint64_t>& rtt_ns() const { return rtt_ns_; }

  private:
    void say(const std::string& line);
    void heard(const std::string& line);
    void echoed(std::span<const std::byte> bytes);
    std::uint64_t place() const { return request_ * 977; }

    PingPlan plan_;
    transport::Payload payload_;
    Stream* control_ = nullptr;
    Stream* data_ = nullptr;
    bool connect_again_ = false;
    bool running_ = false;
    std::string to_say_;  // on the control stream, not sent yet
    std::string line_;    // from it, not whole yet
    std::uint64_t request_ = 0;
    std::uint64_t sent_ = 0;  // bytes of the request that is under way
    std::uint64_t back_ = 0;
    std::uint64_t asked_ns_ = 0;
    std::vector<std::uint64_t> rtt_ns_;
};

}  // namespace vsb::guest
