#pragma once
// The vhost-user protocol's back-end side, as much of it as a vsock device needs: features, memory
// table, rings, configuration. Source: the vhost-user specification of QEMU, and what
// arch/um/drivers/virtio_uml.c sends. Works on messages; the socket is the device's business.
//
// Nothing in a message is believed: sizes, indices, addresses and kinds of descriptors are checked,
// and what does not fit ends the session with a reason.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/guest/children.h"
#include "harness/guest/memory.h"
#include "harness/guest/queue.h"

namespace vsb::guest {

inline constexpr std::size_t kVhostHeaderBytes = 12;
inline constexpr std::size_t kVhostMaxPayload = 1024;
inline constexpr std::size_t kVhostMaxFds = 8;

struct VhostMessage {
    std::uint32_t request = 0;
    std::uint32_t flags = 0;
    std::vector<std::byte> payload;
    std::vector<Fd> fds;
};

// The header's fields. False: not version 1, a reply, or longer than kVhostMaxPayload.
bool read_vhost_header(std::span<const std::byte, kVhostHeaderBytes> bytes, std::uint32_t& request,
                       std::uint32_t& flags, std::uint32_t& size);

enum QueueIndex : std::size_t { kRxQueue = 0, kTxQueue = 1, kEventQueue = 2, kQueues = 3 };

class VhostBackend {
  public:
    explicit VhostBackend(std::uint64_t guest_cid) : cid_(guest_cid) {}

    struct Answer {
        std::string error;             // not empty: the session is over
        std::vector<std::byte> reply;  // a whole message; empty: none
    };
    Answer handle(VhostMessage message);

    GuestQueue& queue(std::size_t index) { return rings_.at(index).queue; }
    // The descriptor that becomes readable at a kick; -1: none.
    int kick_fd(std::size_t index) const { return rings_.at(index).kick.get(); }
    void clear_kick(std::size_t index);
    // Interrupts the guest; a guest that does not read them loses nothing but interrupts.
    void call(std::size_t index);
    // All of rx and tx can be used.
    bool ready() const;

  private:
    struct Ring {
        RingAddresses addresses;
        bool has_addresses = false;
        std::uint16_t size = 0;
        std::uint16_t base = 0;
        bool enabled = false;
        Fd kick;
        Fd call;
        GuestQueue queue;
    };
    using Payload = std::span<const std::byte>;
    std::string dispatch(VhostMessage& message, std::vector<std::byte>& reply);
    std::string set_memory(VhostMessage& message);
    std::string set_ring(std::uint32_t request, Payload payload);
    std::string set_ring_fd(VhostMessage& message);
    std::string get_config(Payload payload, std::vector<std::byte>& reply);
    std::string update(Ring& ring);

    std::uint64_t cid_;
    std::uint64_t features_ = 0;
    std::uint64_t protocol_features_ = 0;
    GuestMemory memory_;
    std::array<Ring, kQueues> rings_;
    Fd requests_;  // SET_SLAVE_REQ_FD: kept open, never used
};

// What the device offers: VIRTIO_F_VERSION_1, VIRTIO_RING_F_EVENT_IDX,
// VHOST_USER_F_PROTOCOL_FEATURES (no indirect tables, no packed ring, no seqpacket).
inline constexpr std::uint64_t kOfferedFeatures =
    (std::uint64_t{1} << 32) | (std::uint64_t{1} << 29) | (std::uint64_t{1} << 30);
// REPLY_ACK, SLAVE_REQ (Linux 6.1's UML fails to probe without), CONFIG.
inline constexpr std::uint64_t kOfferedProtocol =
    (std::uint64_t{1} << 3) | (std::uint64_t{1} << 5) | (std::uint64_t{1} << 9);

}  // namespace vsb::guest
