#pragma once
// struct sockaddr_vm, as far as a send needs it.

#include <cstdint>

namespace vsb::engine::dgram_sendmsg {

struct Address {
    std::uint32_t cid = 0;
    std::uint32_t port = 0;

    friend bool operator==(const Address&, const Address&) = default;
};

inline constexpr std::uint32_t kCidLocal = 1;             // VMADDR_CID_LOCAL
inline constexpr std::uint32_t kPortAny = 0xffffffff;     // VMADDR_PORT_ANY
inline constexpr std::uint32_t kLastReservedPort = 1023;  // LAST_RESERVED_PORT

}  // namespace vsb::engine::dgram_sendmsg
