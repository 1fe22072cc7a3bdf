#include "engine/vsock/header.h"

#include <concepts>

namespace vsb::engine {
namespace {

template <std::unsigned_integral T>
std::byte* put(std::byte* at, T value) noexcept {
    for (std::size_t i = 0; i < sizeof(T); ++i)
        at[i] = static_cast<std::byte>((value >> (8 * i)) & 0xff);
    return at + sizeof(T);
}

template <std::unsigned_integral T>
T get(const std::byte*& at) noexcept {
    T value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i)
        value = static_cast<T>(value | static_cast<T>(static_cast<T>(at[i]) << (8 * i)));
    at += sizeof(T);
    return value;
}

}  // namespace

void encode(const Header& header, std::byte* wire) noexcept {
    wire = put(wire, header.src_cid);
    wire = put(wire, header.dst_cid);
    wire = put(wire, header.src_port);
    wire = put(wire, header.dst_port);
    wire = put(wire, header.len);
    wire = put(wire, static_cast<std::uint16_t>(header.type));
    wire = put(wire, static_cast<std::uint16_t>(header.op));
    wire = put(wire, header.flags);
    wire = put(wire, header.buf_alloc);
    put(wire, header.fwd_cnt);
}

Header decode(const std::byte* wire) noexcept {
    Header header;
    header.src_cid = get<std::uint64_t>(wire);
    header.dst_cid = get<std::uint64_t>(wire);
    header.src_port = get<std::uint32_t>(wire);
    header.dst_port = get<std::uint32_t>(wire);
    header.len = get<std::uint32_t>(wire);
    header.type = static_cast<PacketType>(get<std::uint16_t>(wire));
    header.op = static_cast<Op>(get<std::uint16_t>(wire));
    header.flags = get<std::uint32_t>(wire);
    header.buf_alloc = get<std::uint32_t>(wire);
    header.fwd_cnt = get<std::uint32_t>(wire);
    return header;
}

}  // namespace vsb::engine
