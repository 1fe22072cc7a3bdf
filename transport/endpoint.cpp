#include "transport/endpoint.h"

#include <sys/un.h>

#include <stdexcept>

#include "transport/number.h"

namespace vsb::transport {
namespace {

constexpr std::uint64_t kMost32 = 0xffffffffu;

[[noreturn]] void reject(std::string_view text, const std::string& why) {
    throw std::invalid_argument("'" + std::string(text.substr(0, 120)) + "' is no endpoint: " +
                                why + " (vsock:CID:PORT, unix:/path or tcp:127.0.0.1:PORT)");
}

std::uint32_t number(std::string_view whole, std::string_view part, std::uint64_t high) {
    try {
        return static_cast<std::uint32_t>(parse_number(part, 0, high));
    } catch (const std::invalid_argument& error) {
        reject(whole, error.what());
    }
}

Endpoint parse_vsock(std::string_view text, std::string_view rest, std::uint32_t default_port) {
    Endpoint endpoint;
    endpoint.port = default_port;
    const auto colon = rest.find(':');
    const auto cid = rest.substr(0, colon);
    endpoint.cid = cid == "any" ? kAnyCid : number(text, cid, kMost32 - 1);
    if (colon != std::string_view::npos) {
        endpoint.port = number(text, rest.substr(colon + 1), kMost32 - 1);
    }
    return endpoint;
}

Endpoint parse_local(std::string_view text, std::string_view path) {
    constexpr std::size_t kLongest = sizeof(sockaddr_un::sun_path) - 1;
    if (path.empty()) reject(text, "the path is empty");
    if (path.size() > kLongest) {
        reject(text, "the path is longer than " + std::to_string(kLongest) + " bytes");
    }
    if (path.find('\0') != std::string_view::npos) reject(text, "the path holds a NUL");
    Endpoint endpoint;
    endpoint.family = Family::local;
    endpoint.path = path;
    return endpoint;
}

Endpoint parse_tcp(std::string_view text, std::string_view rest) {
    Endpoint endpoint;
    endpoint.family = Family::tcp;
    const auto colon = rest.find(':');
    if (colon == std::string_view::npos) reject(text, "it has no port");
    endpoint.port = number(text, rest.substr(colon + 1), 65535);
    auto dots = rest.substr(0, colon);
    for (int part = 0; part < 4; ++part) {
        const auto dot = dots.find('.');
        if ((dot == std::string_view::npos) != (part == 3)) {
            reject(text, "the address is not four numbers");
        }
        endpoint.address = endpoint.address << 8 | number(text, dots.substr(0, dot), 255);
        if (part < 3) dots.remove_prefix(dot + 1);
    }
    return endpoint;
}

}  // namespace

Endpoint parse_endpoint(std::string_view text, std::uint32_t default_port) {
    if (text.starts_with("vsock:")) return parse_vsock(text, text.substr(6), default_port);
    if (text.starts_with("unix:")) return parse_local(text, text.substr(5));
    if (text.starts_with("tcp:")) return parse_tcp(text, text.substr(4));
    if (text.find(':') != std::string_view::npos) reject(text, "its family is unknown");
    return parse_vsock(text, text, default_port);
}

std::string format_endpoint(const Endpoint& endpoint) {
    switch (endpoint.family) {
        case Family::local:
            return "unix:" + endpoint.path;
        case Family::tcp: {
            std::string text = "tcp:";
            for (int shift = 24; shift >= 0; shift -= 8) {
                text += std::to_string(endpoint.address >> shift & 0xff);
                if (shift > 0) text += '.';
            }
            return text + ":" + std::to_string(endpoint.port);
        }
        case Family::vsock:
            break;
    }
    const std::string cid = endpoint.cid == kAnyCid ? "any" : std::to_string(endpoint.cid);
    return "vsock:" + cid + ":" + std::to_string(endpoint.port);
}

std::string_view kind_name(Kind kind) {
    return kind == Kind::stream ? "stream" : "seqpacket";
}

void check_kind(const Endpoint& endpoint, Kind kind) {
    if (endpoint.family == Family::tcp && kind == Kind::seqpacket) {
        throw std::invalid_argument("tcp has no seqpacket (use vsock or unix)");
    }
}

}  // namespace vsb::transport
