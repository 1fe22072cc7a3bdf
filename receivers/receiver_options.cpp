#include "receivers/receiver_options.h"

#include <array>

#include "transport/errors.h"
#include "transport/number.h"
#include "transport/options.h"
#include "transport/plan.h"
#include "transport/size.h"

namespace vsb::receivers {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62;
constexpr std::uint64_t kMostBuffer = std::uint64_t{1} << 30;
const std::vector<std::string> kModes = {"recv", "poll", "epoll", "waitall", "uring"};

struct Raw {
    ReceiverOptions options;
    std::optional<std::string> endpoint;
    std::uint64_t port = 1234;
    std::optional<std::uint64_t> expected;
    std::optional<std::uint64_t> warmup;
    std::optional<std::uint64_t> threads;
    std::optional<std::uint64_t> seed;
};

std::uint64_t recv_size(std::string_view text) {
    if (text == "match") return 0;
    const std::uint64_t size = transport::parse_size(text);
    if (size < 1 || size > kMostBuffer) {
        throw std::invalid_argument("'" + std::string(text) + "' is not within 1B to 1G");
    }
    return size;
}

transport::Options table(Raw& raw) {
    ReceiverOptions& to = raw.options;
    transport::Options options;
    options.value("listen", "ENDPOINT",
                  "vsock:any:PORT, unix:/path, tcp:127.0.0.1:PORT; port 0: any that is free",
                  [&raw](std::string_view text) { raw.endpoint = text; });
    options.number("port", "of a bare CID (1234)", raw.port, 0, 0xfffffffe);
    options.choice("mode", "how to wait for data (recv)", kModes,
                   [&to](std::size_t i) { to.mode = static_cast<Mode>(i); });
    options.value("recv-size", "SIZE|match",
                  "bytes of one recv(); match: the sender's writes (64K)",
                  [&to](std::string_view text) { to.recv_bytes = recv_size(text); });
    options.size("rcvlowat", "SO_RCVLOWAT", to.rcvlowat, 1, 0x7fffffff);
    options.value("cpu", "N[,N...]", "pin thread i to the i-th CPU (not pinned)",
                  [&to](std::string_view text) { to.cpus = transport::parse_cpus(text); });
    options.flag("seqpacket", "SOCK_SEQPACKET: one recv() is one message",
                 [&to] { to.kind = transport::Kind::seqpacket; });
    options.flag("verify", "compare every byte with what was sent", to.verify);
    options.flag("timed", "measure the time inside recv() (two clock reads a call)", to.timed);
    options.size("vsk-size", "SO_VM_SOCKETS_BUFFER_SIZE", to.vsock.size, 1, kMostBytes);
    options.size("vsk-min-size", "SO_VM_SOCKETS_BUFFER_MIN_SIZE", to.vsock.min, 1, kMostBytes);
    options.size("vsk-max-size", "SO_VM_SOCKETS_BUFFER_MAX_SIZE", to.vsock.max, 1, kMostBytes);
    options.seconds("timeout", "of each step, and of a stalled transfer (30)", to.timeout_ns);
    options.seconds("interval", "rates of intervals: on stderr, and in the results",
                    to.interval_ns);
    options.choice("control", "agree with vsb-sender, or just receive (peer)", {"peer", "none"},
                   [&to](std::size_t i) { to.control = i == 0; });
    options.value("nonce", "TEXT", "the sender must have been given the same",
                  [&to](std::string_view text) {
                      transport::check_nonce(text);
                      to.nonce = text;
                  });
    options.size("expect", "--control none: bytes that must arrive", raw.expected, 1, kMostBytes);
    options.size("warmup", "--control none: of each thread, before (0)", raw.warmup, 0, kMostBytes);
    options.value("threads", "N", "--control none: connections (1)", [&raw](std::string_view text) {
        raw.threads = transport::parse_number(text, 1, 1024);
    });
    options.value("seed", "N", "--control none: of the payload, for --verify (1)",
                  [&raw](std::string_view text) { raw.seed = transport::parse_number(text); });
    options.flag("perf", "count cycles and instructions of the receiving threads", to.perf);
    options.value("perf-cpu", "N", "count those of a whole CPU", [&to](std::string_view text) {
        to.perf_cpu = transport::parse_cpus(text).at(0);
    });
    options.value("ready-fd", "FD", "write 'READY <port>' to this descriptor once listening",
                  [&to](std::string_view text) {
                      to.ready_fd = static_cast<int>(transport::parse_number(text, 1, 1023));
                  });
    options.choice("format", "of the results (lines)", {"lines", "json", "vsock_perf"},
                   [&to](std::size_t i) { to.format = static_cast<transport::Format>(i); });
    options.flag("help", "this text", to.help);
    return options;
}

void check_endpoint(Raw& raw) {
    ReceiverOptions& options = raw.options;
    if (!raw.endpoint) throw transport::UsageError("--listen: where? (--listen ENDPOINT)");
    try {
        options.endpoint =
            transport::parse_endpoint(*raw.endpoint, static_cast<std::uint32_t>(raw.port));
        transport::check_kind(options.endpoint, options.kind);
    } catch (const std::invalid_argument& error) {
        throw transport::UsageError("--listen: " + std::string(error.what()));
    }
    const auto& vsock = options.vsock;
    if ((vsock.size || vsock.min || vsock.max) &&
        options.endpoint.family != transport::Family::vsock) {
        throw transport::UsageError("--vsk-size: only vsock endpoints have these buffers");
    }
}

void check_control(Raw& raw) {
    ReceiverOptions& options = raw.options;
    const auto only_without = [&](bool given, const char* name) {
        if (given && options.control) {
            throw transport::UsageError(std::string(name) +
                                        ": the sender tells it; only with --control none");
        }
    };
    only_without(raw.expected.has_value(), "--expect");
    only_without(raw.warmup.has_value(), "--warmup");
    only_without(raw.threads.has_value(), "--threads");
    only_without(raw.seed.has_value(), "--seed");
    if (!options.control && options.recv_bytes == 0) {
        throw transport::UsageError(
            "--recv-size: match wants the sender's word (without --control none)");
    }
    if (!options.control && !options.nonce.empty()) {
        throw transport::UsageError("--nonce: there is no control channel to hear it on");
    }
    options.expected_bytes = raw.expected.value_or(0);
    options.warmup_bytes = raw.warmup.value_or(0);
    options.threads = raw.threads.value_or(1);
    options.seed = raw.seed.value_or(1);
}

}  // namespace

ReceiverOptions parse_receiver_options(std::span<const std::string> args) {
    Raw raw;
    table(raw).parse(args);
    if (raw.options.help) return raw.options;
    check_endpoint(raw);
    check_control(raw);
    if (raw.options.format == transport::Format::vsock_perf) raw.options.timed = true;
    return raw.options;
}

std::string receiver_help() {
    Raw raw;
    return "vsb-receiver: receives from vsb-sender, checks what arrived, reports what it "
           "cost.\n\n" +
           table(raw).help() +
           "\nExamples:\n"
           "  vsb-receiver --listen vsock:any:1234 --cpu 0 --perf\n"
           "  vsb-receiver --listen unix:/tmp/s --mode epoll --recv-size match --verify\n";
}

std::string_view mode_name(Mode mode) {
    return kModes[static_cast<std::size_t>(mode)];
}

}  // namespace vsb::receivers
