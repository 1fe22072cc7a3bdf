#pragma once
// The host's end of vsock as the device plays it (CID 2): streams that it opens towards the guest,
// those that the guest opens to the port a job listens at, credit on both sides, and a polite RST
// for everything else. Pure: packets in, packets out; the
// rings, the clock and the thread are the device's. Source: VIRTIO 1.2, 5.10.6.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>

#include "engine/vsock/header.h"

namespace vsb::guest {

inline constexpr std::uint64_t kHostCid = 2;

enum class StreamState : std::uint8_t { connecting, open, refused, closed };

// One connection. Counters run freely modulo 2^32, as in the header.
struct Stream {
    std::uint32_t local_port = 0;
    std::uint32_t peer_port = 0;
    StreamState state = StreamState::connecting;
    bool peer_sends_no_more = false;
    bool we_send_no_more = false;
    std::uint32_t peer_buf_alloc = 0;
    std::uint32_t peer_fwd_cnt = 0;
    std::uint32_t tx_cnt = 0;     // payload bytes sent
    std::uint32_t received = 0;   // payload bytes taken: our fwd_cnt
    std::uint32_t announced = 0;  // of them, told to the peer

    // Bytes that may be sent now. A peer that took more than was sent gets nothing.
    std::uint32_t room() const noexcept {
        const std::uint32_t in_flight = tx_cnt - peer_fwd_cnt;
        return in_flight > peer_buf_alloc ? 0 : peer_buf_alloc - in_flight;
    }
};

// What a job does with its streams; called by VsockHost from the device's thread.
class StreamEvents {
  public:
    virtual ~StreamEvents() = default;
    virtual void opened(Stream& stream) = 0;
    virtual void refused(Stream& stream) = 0;  // RST while connecting: nobody listens yet
    virtual void data(Stream& stream, std::span<const std::byte> bytes) = 0;
    virtual void ended(Stream& /*stream*/) {}  // the peer sends no more, and still receives
    virtual void closed(Stream& stream, bool reset) = 0;
};

class VsockHost {
  public:
    static constexpr std::uint32_t kBufAlloc = 256 * 1024;
    static constexpr std::size_t kMaxQueued = 256;  // control packets waiting for RX buffers
    static constexpr std::size_t kMaxStreams = 8;

    explicit VsockHost(std::uint64_t guest_cid) : guest_cid_(guest_cid) {}

    void set_events(StreamEvents* events) { events_ = events; }

    // Asks the guest for a connection to a port. The stream lives until forget().
    Stream& connect(std::uint32_t port);
    // Accepts the guest's connections to a port, until forget_all().
    void listen(std::uint32_t port) { listening_ = port; }
    void shutdown_send(Stream& stream);
    void reset(Stream& stream);
    // Drops closed and refused streams, resets the others, and listens no more.
    void forget_all();

    // A packet from the guest's TX ring: its header, and its payload as it lay there. Empty, or
    // what the guest did wrong (it is answered with RST where it can be; the session goes on).
    std::string receive(const engine::Header& header, std::span<const std::byte> payload);

    // Control packets to be sent, oldest first.
    bool has_packet() const { return !queued_.empty(); }
    engine::Header take_packet();

    // The header of the next data packet of `size` payload bytes; counts them as sent.
    engine::Header data_header(Stream& stream, std::uint32_t size);

    std::uint64_t refusals() const { return refusals_; }  // packets that got an RST

  private:
    Stream* find(std::uint32_t local_port, std::uint32_t peer_port);
    engine::Header header_for(Stream& stream, engine::Op op);
    void queue(const engine::Header& header);
    void refuse(const engine::Header& header);
    Stream* accept(const engine::Header& header);
    std::string data_packet(Stream& stream, std::span<const std::byte> payload);
    void shut_by_peer(Stream& stream, std::uint32_t flags);

    std::uint64_t guest_cid_;
    StreamEvents* events_ = nullptr;
    std::deque<Stream> streams_;  // addresses stay
    std::deque<engine::Header> queued_;
    std::uint32_t next_port_ = 1024;
    std::uint32_t listening_ = 0;  // 0: nowhere
    std::uint64_t refusals_ = 0;
};

}  // namespace vsb::guest
