#include "transport/vsock_perf_words.h"

#include <gtest/gtest.h>

namespace vsb::transport {
namespace {

TEST(VsockPerfWords, SenderLines) {
    EXPECT_EQ(sender_head(parse_endpoint("3", 1234), 65536, 131072, false),
              "Run as sender\nConnect to 3:1234\nSend 65536 bytes\nTX buffer 131072 bytes\n");
    EXPECT_EQ(sender_head(parse_endpoint("unix:/s"), 1, 2, true),
              "Run as sender MSG_ZEROCOPY\nConnect to unix:/s\nSend 1 bytes\nTX buffer 2 bytes\n");
    EXPECT_EQ(sender_tail({1000000000, 2000000000, 500000000}),
              "total bytes sent: 1000000000\ntx performance: 4.000000 Gbits/s\n"
              "total time in tx loop: 2.000000 sec\ntime in 'send()': 0.500000 sec\n");
}

TEST(VsockPerfWords, ReceiverLines) {
    EXPECT_EQ(receiver_head(parse_endpoint("any", 1234), 131072, 262144, 1),
              "Run as receiver\nListen port 1234\nRX buffer 131072 bytes\n"
              "vsock buffer 262144 bytes\nSO_RCVLOWAT 1 bytes\n");
    EXPECT_EQ(receiver_tail({1000000000, 2000000000, 500000000, 1000, 1001}),
              "total bytes received: 1000000000\nrx performance: 4.000000 Gbits/s\n"
              "total time in 'read()': 0.500000 sec\naverage time in 'read()': 500000.000000 ns\n"
              "POLLIN wakeups: 1001\n");
}

}  // namespace
}  // namespace vsb::transport
