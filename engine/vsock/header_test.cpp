#include "engine/vsock/header.h"

#include <gtest/gtest.h>

#include <array>

namespace vsb::engine {
namespace {

TEST(Header, EveryFieldIsWhereTheSpecificationPutsIt) {
    Header h;
    h.src_cid = 0x0807060504030201;
    h.dst_cid = 0x100f0e0d0c0b0a09;
    h.src_port = 0x14131211;
    h.dst_port = 0x18171615;
    h.len = 0x1c1b1a19;
    h.type = static_cast<PacketType>(0x1e1d);
    h.op = static_cast<Op>(0x201f);
    h.flags = 0x24232221;
    h.buf_alloc = 0x28272625;
    h.fwd_cnt = 0x2c2b2a29;
    std::array<std::byte, kHeaderBytes + 1> wire{};
    wire.back() = std::byte{0xee};
    encode(h, wire.data());
    for (std::size_t i = 0; i < kHeaderBytes; ++i)
        EXPECT_EQ(static_cast<std::size_t>(wire[i]), i + 1) << "byte " << i;
    EXPECT_EQ(wire.back(), std::byte{0xee});
    EXPECT_EQ(decode(wire.data()), h);
}

TEST(Header, DecodesFromAnyAlignment) {
    Header h;
    h.src_cid = ~std::uint64_t{0};
    h.fwd_cnt = 0xffffffff;
    h.type = PacketType::seqpacket;
    h.op = Op::credit_request;
    std::array<std::byte, kHeaderBytes + 8> wire{};
    for (std::size_t shift = 0; shift < 8; ++shift) {
        encode(h, wire.data() + shift);
        EXPECT_EQ(decode(wire.data() + shift), h);
    }
}

}  // namespace
}  // namespace vsb::engine
