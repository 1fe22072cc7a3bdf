#include "transport/vsock_perf_words.h"

#include <cstdio>

namespace vsb::transport {
namespace {

std::string number(double value) {
    char text[64];
    std::snprintf(text, sizeof text, "%f", value);
    return text;
}

std::string gbit_per_s(std::uint64_t bytes, std::uint64_t ns) {
    return number(static_cast<double>(bytes) * 8.0 / static_cast<double>(ns)) + " Gbits/s\n";
}

std::string seconds(std::uint64_t ns) {
    return number(static_cast<double>(ns) / 1e9) + " sec\n";
}

}  // namespace

std::string sender_head(const Endpoint& endpoint, std::uint64_t bytes, std::uint64_t buffer_bytes,
                        bool zerocopy) {
    std::string where = format_endpoint(endpoint);
    if (endpoint.family == Family::vsock) {
        where = std::to_string(endpoint.cid) + ":" + std::to_string(endpoint.port);
    }
    return std::string(zerocopy ? "Run as sender MSG_ZEROCOPY\n" : "Run as sender\n") +
           "Connect to " + where + "\nSend " + std::to_string(bytes) + " bytes\nTX buffer " +
           std::to_string(buffer_bytes) + " bytes\n";
}

std::string receiver_head(const Endpoint& endpoint, std::uint64_t buffer_bytes,
                          std::uint64_t vsock_bytes, std::uint64_t rcvlowat) {
    return "Run as receiver\nListen port " + std::to_string(endpoint.port) + "\nRX buffer " +
           std::to_string(buffer_bytes) + " bytes\nvsock buffer " + std::to_string(vsock_bytes) +
           " bytes\nSO_RCVLOWAT " + std::to_string(rcvlowat) + " bytes\n";
}

std::string sender_tail(const SenderWords& words) {
    return "total bytes sent: " + std::to_string(words.bytes) +
           "\ntx performance: " + gbit_per_s(words.bytes, words.loop_ns) +
           "total time in tx loop: " + seconds(words.loop_ns) +
           "time in 'send()': " + seconds(words.in_send_ns);
}

std::string receiver_tail(const ReceiverWords& words) {
    return "total bytes received: " + std::to_string(words.bytes) +
           "\nrx performance: " + gbit_per_s(words.bytes, words.loop_ns) +
           "total time in 'read()': " + seconds(words.in_read_ns) + "average time in 'read()': " +
           number(static_cast<double>(words.in_read_ns) / static_cast<double>(words.reads)) +
           " ns\nPOLLIN wakeups: " + std::to_string(words.wakeups) + "\n";
}

}  // namespace vsb::transport
