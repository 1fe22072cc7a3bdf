#include "pingpong/pingpong_options.h"

#include "transport/errors.h"
#include "transport/number.h"
#include "transport/options.h"
#include "transport/plan.h"

namespace vsb::pingpong {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62;

struct Raw {
    PingpongOptions options;
    std::optional<std::string> connect;
    std::optional<std::string> listen;
    std::uint64_t port = 1234;
    std::vector<std::string> of_the_client;  // options given that only it has
};

transport::Options table(Raw& raw) {
    PingpongOptions& to = raw.options;
    transport::Options options;
    const auto client_number = [&](const char* name, const char* help, std::uint64_t& target,
                                   std::uint64_t low, std::uint64_t high) {
        options.value(name, "N", help, [&raw, &target, name, low, high](std::string_view text) {
            target = transport::parse_number(text, low, high);
            raw.of_the_client.emplace_back(name);
        });
    };
    options.value("connect", "ENDPOINT",
                  "be the client: vsock:CID:PORT, unix:/path, tcp:A.B.C.D:PORT",
                  [&raw](std::string_view text) { raw.connect = text; });
    options.value("listen", "ENDPOINT", "be the echo server; port 0: any that is free",
                  [&raw](std::string_view text) { raw.listen = text; });
    options.number("port", "of a bare CID (1234)", raw.port, 0, 0xfffffffe);
    client_number("requests", "measured (10000)", to.requests, 1, 1000000000);
    client_number("warmup", "requests before them (1000)", to.warmup, 0, 1000000000);
    options.size("size", "bytes of a request and of its reply (64)", to.size, 1,
                 std::uint64_t{1} << 30);
    client_number("seed", "of the payload (1)", to.seed, 0, ~std::uint64_t{0});
    options.flag("busy-poll", "spin on recv() instead of sleeping in it", to.busy_poll);
    options.flag("seqpacket", "SOCK_SEQPACKET: a request is a message",
                 [&to] { to.kind = transport::Kind::seqpacket; });
    options.value("cpu", "N", "pin to this CPU (not pinned)", [&to](std::string_view text) {
        to.cpus = transport::parse_cpus(text);
        if (to.cpus.size() != 1) throw std::invalid_argument("one CPU, there is one thread");
    });
    options.size("vsk-size", "SO_VM_SOCKETS_BUFFER_SIZE", to.vsock.size, 1, kMostBytes);
    options.size("vsk-min-size", "SO_VM_SOCKETS_BUFFER_MIN_SIZE", to.vsock.min, 1, kMostBytes);
    options.size("vsk-max-size", "SO_VM_SOCKETS_BUFFER_MAX_SIZE", to.vsock.max, 1, kMostBytes);
    options.seconds("connect-timeout", "try to connect for this long (10)", to.connect_timeout_ns);
    options.seconds("timeout", "of each step, and of a request without a reply (30)",
                    to.timeout_ns);
    options.value("nonce", "TEXT", "both sides must have been given the same",
                  [&to](std::string_view text) {
                      transport::check_nonce(text);
                      to.nonce = text;
                  });
    options.flag("perf", "count cycles and instructions of the thread", to.perf);
    options.value("perf-cpu", "N", "count those of a whole CPU", [&to](std::string_view text) {
        to.perf_cpu = transport::parse_cpus(text).at(0);
    });
    options.value("samples", "FILE", "write every round-trip time there, in ns, in order",
                  [&raw, &to](std::string_view text) {
                      if (text.empty()) throw std::invalid_argument("the name is empty");
                      to.samples_path = text;
                      raw.of_the_client.emplace_back("samples");
                  });
    options.value("ready-fd", "FD", "server: write 'READY <port>' there once listening",
                  [&to](std::string_view text) {
                      to.ready_fd = static_cast<int>(transport::parse_number(text, 1, 1023));
                  });
    options.choice("format", "of the results (lines)", {"lines", "json"},
                   [&to](std::size_t i) { to.format = static_cast<transport::Format>(i); });
    options.flag("help", "this text", to.help);
    return options;
}

}  // namespace

PingpongOptions parse_pingpong_options(std::span<const std::string> args) {
    Raw raw;
    table(raw).parse(args);
    PingpongOptions& options = raw.options;
    if (options.help) return options;
    if (raw.connect.has_value() == raw.listen.has_value()) {
        throw transport::UsageError("--connect: either --connect ENDPOINT or --listen ENDPOINT");
    }
    options.server = raw.listen.has_value();
    const std::string name = options.server ? "--listen: " : "--connect: ";
    try {
        options.endpoint = transport::parse_endpoint(options.server ? *raw.listen : *raw.connect,
                                                     static_cast<std::uint32_t>(raw.port));
        if (!options.server && options.endpoint.family == transport::Family::vsock &&
            options.endpoint.cid == transport::kAnyCid) {
            throw std::invalid_argument("'any' is no CID to connect to");
        }
        transport::check_kind(options.endpoint, options.kind);
    } catch (const std::invalid_argument& error) {
        throw transport::UsageError(name + error.what());
    }
    if (options.server && !raw.of_the_client.empty()) {
        throw transport::UsageError("--" + raw.of_the_client.front() +
                                    ": is the client's; the server hears it from there");
    }
    if (!options.server && options.ready_fd >= 0) {
        throw transport::UsageError("--ready-fd: is the server's");
    }
    const auto& vsock = options.vsock;
    if ((vsock.size || vsock.min || vsock.max) &&
        options.endpoint.family != transport::Family::vsock) {
        throw transport::UsageError("--vsk-size: only vsock endpoints have these buffers");
    }
    return options;
}

std::string pingpong_help() {
    Raw raw;
    return "vsb-pingpong: round-trip times between a client and an echo server.\n\n" +
           table(raw).help() +
           "\nExamples:\n"
           "  vsb-pingpong --listen vsock:any:1234 --cpu 0\n"
           "  vsb-pingpong --connect vsock:3:1234 --cpu 1 --size 4K --samples rtt.txt\n";
}

}  // namespace vsb::pingpong
