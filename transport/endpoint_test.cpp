#include "transport/endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace vsb::transport {
namespace {

TEST(ParseEndpoint, ReadsEveryFamily) {
    const Endpoint vsock = parse_endpoint("vsock:3:5000");
    EXPECT_EQ(vsock.family, Family::vsock);
    EXPECT_EQ(vsock.cid, 3u);
    EXPECT_EQ(vsock.port, 5000u);
    const Endpoint tcp = parse_endpoint("tcp:127.0.0.1:80");
    EXPECT_EQ(tcp.address, 0x7f000001u);
    EXPECT_EQ(tcp.port, 80u);
    EXPECT_EQ(parse_endpoint("unix:/a:b").path, "/a:b");
    EXPECT_EQ(parse_endpoint("vsock:any:7").cid, kAnyCid);
}

TEST(ParseEndpoint, ABareCidIsVsock) {
    const Endpoint endpoint = parse_endpoint("42", 99);
    EXPECT_EQ(endpoint.family, Family::vsock);
    EXPECT_EQ(endpoint.cid, 42u);
    EXPECT_EQ(endpoint.port, 99u);
    EXPECT_EQ(parse_endpoint("vsock:42", 99), endpoint);
}

TEST(ParseEndpoint, WhatItFormatsItReads) {
    for (const char* text : {"vsock:3:5000", "vsock:any:0", "tcp:10.0.255.1:65535", "unix:/x y"}) {
        EXPECT_EQ(format_endpoint(parse_endpoint(text)), text);
    }
}

TEST(ParseEndpoint, RejectsTheRest) {
    for (const char* bad :
         {"", "vsock:", "vsock:3:", "vsock:-1:2", "vsock:3:4:5", "vsock:4294967296:1", "udp:1:2",
          "unix:", "tcp:127.0.0.1", "tcp:127.0.0:1", "tcp:1.2.3.4.5:1", "tcp:256.0.0.1:1",
          "tcp:localhost:1", "tcp:127.0.0.1:65536", "tcp:127.0.0.1:", "any:1", "3x",
          "vsock:3:1 "}) {
        EXPECT_THROW(parse_endpoint(bad), std::invalid_argument) << bad;
    }
    EXPECT_THROW(parse_endpoint("unix:/" + std::string(107, 'x')), std::invalid_argument);
    EXPECT_NO_THROW(parse_endpoint("unix:/" + std::string(106, 'x')));
}

TEST(CheckKind, TcpHasNoSeqpacket) {
    EXPECT_THROW(check_kind(parse_endpoint("tcp:127.0.0.1:1"), Kind::seqpacket),
                 std::invalid_argument);
    EXPECT_NO_THROW(check_kind(parse_endpoint("3"), Kind::seqpacket));
}

}  // namespace
}  // namespace vsb::transport
