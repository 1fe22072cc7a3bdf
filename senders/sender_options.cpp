#include "senders/sender_options.h"

#include "transport/errors.h"
#include "transport/options.h"
#include "transport/plan.h"

namespace vsb::senders {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62;
constexpr std::uint64_t kMostBuffer = std::uint64_t{1} << 30;
constexpr std::uint64_t kDefaultBytes = std::uint64_t{64} << 20;

struct Raw {
    SenderOptions options;
    std::optional<std::string> endpoint;
    std::uint64_t port = 1234;
    std::optional<std::uint64_t> bytes;
};

transport::Options table(Raw& raw) {
    SenderOptions& to = raw.options;
    transport::Options options;
    options.value("connect", "ENDPOINT",
                  "the receiver: vsock:CID:PORT, unix:/path, tcp:A.B.C.D:PORT",
                  [&raw](std::string_view text) { raw.endpoint = text; });
    options.number("port", "of a bare CID (1234)", raw.port, 0, 0xfffffffe);
    options.size("bytes", "to send, all threads together (64M)", raw.bytes, 1, kMostBytes);
    options.seconds("duration", "send for this long instead", to.duration_ns);
    options.size("buf-size", "bytes of one send() (128K)", to.write_bytes, 1, kMostBuffer);
    options.size("warmup", "sent before, unmeasured, by each thread (0)", to.warmup_bytes, 0,
                 kMostBytes);
    options.number("threads", "connections, one thread each (1)", to.threads, 1, 1024);
    options.value("cpu", "N[,N...]", "pin thread i to the i-th CPU (not pinned)",
                  [&to](std::string_view text) { to.cpus = transport::parse_cpus(text); });
    options.flag("seqpacket", "SOCK_SEQPACKET: one send() is one message",
                 [&to] { to.kind = transport::Kind::seqpacket; });
    options.flag("zerocopy", "MSG_ZEROCOPY; completions are counted", to.zerocopy);
    options.flag("timed", "measure the time inside send() (a clock read a call)", to.timed);
    options.number("seed", "of the payload (1)", to.seed, 0, ~std::uint64_t{0});
    options.size("vsk-size", "SO_VM_SOCKETS_BUFFER_SIZE", to.vsock.size, 1, kMostBytes);
    options.size("vsk-min-size", "SO_VM_SOCKETS_BUFFER_MIN_SIZE", to.vsock.min, 1, kMostBytes);
    options.size("vsk-max-size", "SO_VM_SOCKETS_BUFFER_MAX_SIZE", to.vsock.max, 1, kMostBytes);
    options.seconds("connect-timeout", "try to connect for this long (10)", to.connect_timeout_ns);
    options.seconds("timeout", "of each step, and of a stalled transfer (30)", to.timeout_ns);
    options.seconds("interval", "rates of intervals: on stderr, and in the results",
                    to.interval_ns);
    options.choice("control", "agree with vsb-receiver, or just send (peer)", {"peer", "none"},
                   [&to](std::size_t i) { to.control = i == 0; });
    options.value("nonce", "TEXT", "the receiver must have been given the same",
                  [&to](std::string_view text) {
                      transport::check_nonce(text);
                      to.nonce = text;
                  });
    options.flag("perf", "count cycles and instructions of the sending threads", to.perf);
    options.value("perf-cpu", "N", "count those of a whole CPU", [&to](std::string_view text) {
        to.perf_cpu = transport::parse_cpus(text).at(0);
    });
    options.choice("format", "of the results (lines)", {"lines", "json", "vsock_perf"},
                   [&to](std::size_t i) { to.format = static_cast<transport::Format>(i); });
    options.flag("help", "this text", to.help);
    return options;
}

}  // namespace

SenderOptions parse_sender_options(std::span<const std::string> args) {
    Raw raw;
    table(raw).parse(args);
    SenderOptions& options = raw.options;
    if (options.help) return options;
    if (!raw.endpoint) throw transport::UsageError("--connect: where to? (--connect ENDPOINT)");
    try {
        options.endpoint =
            transport::parse_endpoint(*raw.endpoint, static_cast<std::uint32_t>(raw.port));
        if (options.endpoint.family == transport::Family::vsock &&
            options.endpoint.cid == transport::kAnyCid) {
            throw std::invalid_argument("'any' is no CID to connect to");
        }
        transport::check_kind(options.endpoint, options.kind);
    } catch (const std::invalid_argument& error) {
        throw transport::UsageError("--connect: " + std::string(error.what()));
    }
    if (raw.bytes && options.duration_ns != 0) {
        throw transport::UsageError("--duration: either --bytes or --duration");
    }
    if (options.duration_ns == 0) options.bytes = raw.bytes.value_or(kDefaultBytes);
    if (options.bytes != 0 && options.bytes < options.threads) {
        throw transport::UsageError("--bytes: fewer than there are threads");
    }
    const auto& vsock = options.vsock;
    if ((vsock.size || vsock.min || vsock.max) &&
        options.endpoint.family != transport::Family::vsock) {
        throw transport::UsageError("--vsk-size: only vsock endpoints have these buffers");
    }
    if (options.format == transport::Format::vsock_perf) options.timed = true;
    return options;
}

std::string sender_help() {
    Raw raw;
    return "vsb-sender: sends to vsb-receiver and reports what it cost.\n"
           "vsb-sender --vsock-perf-compat ...: takes vsock_perf's options, both roles.\n\n" +
           table(raw).help() +
           "\nExamples:\n"
           "  vsb-sender --connect vsock:3:1234 --bytes 1G --buf-size 64K --cpu 1\n"
           "  vsb-sender --connect unix:/tmp/s --seqpacket --duration 5 --format json\n";
}

}  // namespace vsb::senders
