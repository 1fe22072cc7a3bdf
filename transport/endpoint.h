#pragma once
// Where a socket is: "vsock:CID:PORT", "unix:/path", "tcp:A.B.C.D:PORT", or a bare CID (vsock, with
// a port given apart).

#include <cstdint>
#include <string>
#include <string_view>

namespace vsb::transport {

enum class Family : std::uint8_t { vsock, local, tcp };
enum class Kind : std::uint8_t { stream, seqpacket };

inline constexpr std::uint32_t kAnyCid = 0xffffffffu;  // "any", to listen on
inline constexpr std::uint32_t kLoopbackCid = 1;

struct Endpoint {
    Family family = Family::vsock;
    std::uint32_t cid = kAnyCid;
    std::uint32_t port = 0;     // vsock and tcp; 0 when listening: the kernel chooses
    std::uint32_t address = 0;  // tcp: IPv4, host byte order
    std::string path;           // unix

    bool operator==(const Endpoint&) const = default;
};

// Throws std::invalid_argument saying what is wrong. `default_port`: of a bare CID and "vsock:CID".
Endpoint parse_endpoint(std::string_view text, std::uint32_t default_port = 1234);

// The spelling parse_endpoint() reads.
std::string format_endpoint(const Endpoint& endpoint);

std::string_view kind_name(Kind kind);

// Throws std::invalid_argument: tcp has no seqpacket.
void check_kind(const Endpoint& endpoint, Kind kind);

}  // namespace vsb::transport
