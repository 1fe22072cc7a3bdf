#pragma once
// The device and the host's end of the connections: what vhost-vsock and the host's
// virtio_transport do for the senders. It cuts writes into packets of at most 64 KiB and the
// guest's credit (virtio_transport_send_pkt_info), those into pieces that fit a posted buffer
// (vhost_transport_do_send_pkt), and takes the guest's packets (vhost_vsock_handle_tx_kick).
// Connections take turns packet by packet, as in the one send_pkt_queue that senders of equal speed
// fill; the pieces of a packet stay together. Runs on one thread: the worker's, or its own.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/ring/device_queue.h"
#include "engine/sync/doorbell.h"
#include "engine/vsock/credit.h"
#include "engine/vsock/host_program.h"
#include "engine/vsock/socket.h"
#include "engine/vsock/transmit_path.h"

namespace vsb::engine {

// The RX interrupt: tells the worker's thread that there are used buffers.
class InterruptLine {
  public:
    void raise(Current& me) noexcept {
        ++me.counts.interrupts;
        raised_.store(true, std::memory_order_seq_cst);
        me.count(bell_.ring());
    }
    // True once for any number of raises since the last call.
    bool take() noexcept {
        return raised_.load(std::memory_order_relaxed) && raised_.exchange(false);
    }
    Doorbell& bell() noexcept { return bell_; }

  private:
    std::atomic<bool> raised_{false};
    Doorbell bell_;
};

class Device {
  public:
    static constexpr std::uint32_t kBufAlloc = 262144;  // VIRTIO_VSOCK_DEFAULT_BUF_SIZE
    static constexpr std::uint32_t kBurst = 256;        // VHOST_VSOCK_PKT_WEIGHT

    struct Peers {
        Address host;  // of the first connection; the port of each further one is one higher
        Address guest;
        std::uint32_t host_buf_alloc = kBufAlloc;
    };

    // A connection for each program; they outlive the device.
    Device(Vring rx, Vring tx, TransmitPath& guest_tx, InterruptLine& interrupt,
           std::span<HostProgram* const> programs, const Peers& peers,
           std::uint16_t first_index = 0);

    // Asks the guest's listener for the connections at the next runs. No data is sent before all
    // are there.
    void connect() noexcept;
    bool connected() const noexcept { return connected_ == connections_.size(); }

    // Takes what the guest sent, then fills posted buffers, at most kBurst. True if it did
    // anything.
    bool run(Current& me) noexcept;
    // The first half of run.
    bool take_transmitted(Current& me) noexcept;

    // Before sleeping: asks for kicks. True if there is work after all.
    bool enable_notify() noexcept;
    void disable_notify() noexcept;

    // Of every connection: the program has finished and the guest has closed, or the guest broke
    // it.
    bool closed() const noexcept { return closed_ == connections_.size(); }
    bool broken() const noexcept { return broken_; }  // any of them

    std::uint64_t bytes_sent() const noexcept { return bytes_sent_; }  // of all connections
    std::uint64_t first_packet_ns() const noexcept { return first_packet_ns_; }
    // For a message when a run hangs.
    bool out_of_credit() const noexcept;
    bool out_of_buffers() const noexcept { return out_of_buffers_; }

  private:
    // The host's end of one.
    struct Connection {
        HostProgram* program = nullptr;
        std::uint32_t port = 0;
        bool send_request = false;
        bool send_credit_update = false;
        bool shutdown_sent = false;
        bool connected = false;
        bool closed = false;
        bool out_of_credit = false;
        TransmitCredit credit;          // of the host as sender
        std::uint64_t write_left = 0;   // of the program's current write
        std::uint32_t packet_left = 0;  // of the host's current packet, credit taken
        std::uint32_t fwd_cnt = 0;      // of the host as receiver
        std::uint32_t last_fwd_cnt = 0;
    };

    void receive(const std::byte* bytes, std::uint32_t len) noexcept;
    bool fill_posted(Current& me) noexcept;
    Connection* next_sender(Header& header, Current& me) noexcept;
    bool next_packet(Connection& c, Header& header, Current& me) noexcept;
    bool wants_to_send(Connection& c) noexcept;
    bool wants_to_send() noexcept;
    void pass_turn() noexcept { turn_ = turn_ + 1 == connections_.size() ? 0 : turn_ + 1; }

    DeviceQueue rx_;
    DeviceQueue tx_;
    TransmitPath& guest_tx_;
    InterruptLine& interrupt_;
    const Peers peers_;

    std::vector<Connection> connections_;
    std::size_t turn_ = 0;
    std::size_t connected_ = 0;
    std::size_t closed_ = 0;
    bool broken_ = false;
    bool out_of_buffers_ = false;

    std::uint64_t bytes_sent_ = 0;
    std::uint64_t first_packet_ns_ = 0;
};

}  // namespace vsb::engine
