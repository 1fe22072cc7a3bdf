#pragma once
// struct virtio_vsock_hdr, VIRTIO 1.2, 5.10.6: 44 bytes, every field little endian, no padding.

#include <cstddef>
#include <cstdint>

namespace vsb::engine {

inline constexpr std::size_t kHeaderBytes = 44;

enum class PacketType : std::uint16_t { stream = 1, seqpacket = 2 };

enum class Op : std::uint16_t {
    invalid = 0,
    request = 1,
    response = 2,
    rst = 3,
    shutdown = 4,
    rw = 5,
    credit_update = 6,
    credit_request = 7,
};

inline constexpr std::uint32_t kShutdownRcv = 1;  // the sender of this will receive no more
inline constexpr std::uint32_t kShutdownSend = 2;
inline constexpr std::uint32_t kShutdownMask = 3;
inline constexpr std::uint32_t kSeqEom = 1;  // last packet of a message
inline constexpr std::uint32_t kSeqEor = 2;  // last message of a record

// In the host's order; `type` and `op` may hold values no enumerator has.
struct Header {
    std::uint64_t src_cid = 0;
    std::uint64_t dst_cid = 0;
    std::uint32_t src_port = 0;
    std::uint32_t dst_port = 0;
    std::uint32_t len = 0;  // of the payload
    PacketType type = PacketType::stream;
    Op op = Op::invalid;
    std::uint32_t flags = 0;
    std::uint32_t buf_alloc = 0;
    std::uint32_t fwd_cnt = 0;

    bool operator==(const Header&) const = default;
};

// `wire` points at kHeaderBytes bytes, of any alignment.
void encode(const Header& header, std::byte* wire) noexcept;
Header decode(const std::byte* wire) noexcept;

}  // namespace vsb::engine
