// vsb-bare: the floor that the tools are held against: nothing but send() or recv() in a loop, no
// handshake, no checks, no counting but of bytes. Static, so that it runs in a guest (bench_exact).
//
//   vsb-bare receive ENDPOINT BYTES RECV_SIZE     prints bytes=, recvs= and first_to_last_ns=
//   vsb-bare send    ENDPOINT BYTES WRITE_SIZE
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "transport/calls.h"
#include "transport/results.h"
#include "transport/size.h"
#include "transport/sockets.h"

namespace {

using namespace vsb::transport;

constexpr std::uint64_t kTimeoutNs = 60'000'000'000;

void bare_receive(const Endpoint& endpoint, std::uint64_t bytes, std::size_t size) {
    Calls& calls = system_calls();
    Listener listener(calls, endpoint, {});
    const Descriptor socket = listener.accept(calls.now_ns() + kTimeoutNs, "the bare sender");
    const int fd = socket.get();
    std::vector<char> buffer(size);
    pollfd waiting{fd, POLLIN, 0};
    ::poll(&waiting, 1, -1);
    const std::uint64_t first = calls.now_ns();
    std::uint64_t last = first;
    std::uint64_t got = 0;
    std::uint64_t recvs = 0;
    for (;;) {
        const ssize_t n = ::recv(fd, buffer.data(), size, 0);
        ++recvs;
        if (n <= 0) break;
        got += static_cast<std::uint64_t>(n);
        if (got == bytes) last = calls.now_ns();
    }
    if (got != bytes) throw std::runtime_error("received " + std::to_string(got));
    Results results;
    results.count("bytes", got);
    results.count("recvs", recvs);
    results.count("first_to_last_ns", last - first);
    std::fputs(results.lines().c_str(), stdout);
}

void bare_send(const Endpoint& endpoint, std::uint64_t bytes, std::size_t size) {
    Calls& calls = system_calls();
    const Descriptor socket = connect_to(calls, endpoint, {}, calls.now_ns() + kTimeoutNs);
    const int fd = socket.get();
    const std::vector<char> buffer(size, 'x');
    std::uint64_t left = bytes;
    while (left > 0) {
        const ssize_t n = ::send(fd, buffer.data(), std::min<std::uint64_t>(size, left), 0);
        if (n <= 0) throw std::runtime_error("send() failed");
        left -= static_cast<std::uint64_t>(n);
    }
    std::fputs("status=ok\n", stdout);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const std::vector<std::string> words(argv + 1, argv + argc);
        if (words.size() != 4 || (words[0] != "send" && words[0] != "receive")) {
            throw std::invalid_argument("send|receive ENDPOINT BYTES SIZE");
        }
        const Endpoint endpoint = parse_endpoint(words[1]);
        (words[0] == "send" ? bare_send : bare_receive)(endpoint, parse_size(words[2]),
                                                        parse_size(words[3]));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "vsb-bare: %s\n", error.what());
        return 1;
    }
    return 0;
}
