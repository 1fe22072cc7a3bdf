#include "senders/compat_options.h"

#include "transport/errors.h"
#include "transport/options.h"

namespace vsb::senders {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62;
constexpr std::uint64_t kMostBuffer = std::uint64_t{1} << 30;

struct HelpAsked {};

struct Raw {
    CompatOptions options;
    std::optional<std::string> sender;
    std::optional<std::string> listen;
};

transport::Options table(Raw& raw) {
    CompatOptions& to = raw.options;
    transport::Options options;
    options.flag("help", "this text", [] { throw HelpAsked{}; });
    options.value("sender", "CID", "be the sender, to this CID (or unix:PATH, tcp:A.B.C.D:PORT)",
                  [&raw](std::string_view text) { raw.sender = text; });
    options.value("listen", "ENDPOINT", "where the receiver listens (vsock:any:PORT)",
                  [&raw](std::string_view text) { raw.listen = text; });
    options.number("port", "(1234)", to.port, 0, 0xfffffffe);
    options.size("bytes", "sent in all (64K)", to.bytes, 1, kMostBytes);
    options.size("buf-size", "of one send() or read() (128K)", to.buf_bytes, 1, kMostBuffer);
    options.size("vsk-size", "receive buffer of the socket (256K)", to.vsk_bytes, 1, kMostBytes);
    options.size("rcvlowat", "SO_RCVLOWAT of the receiver (1)", to.rcvlowat, 1, 0x7fffffff);
    options.flag("zerocopy", "send with MSG_ZEROCOPY", to.zerocopy);
    return options;
}

}  // namespace

CompatOptions parse_compat_options(std::span<const std::string> args) {
    Raw raw;
    try {
        table(raw).parse(args);
    } catch (const HelpAsked&) {
        raw.options.help = true;
        return raw.options;
    }
    CompatOptions& options = raw.options;
    options.sender = raw.sender.has_value();
    if (raw.sender && raw.listen) {
        throw transport::UsageError("--listen: is the receiver's; with --sender there is none");
    }
    const auto port = static_cast<std::uint32_t>(options.port);
    try {
        if (raw.sender) {
            options.endpoint = transport::parse_endpoint(*raw.sender, port);
            if (options.endpoint == transport::parse_endpoint("any", options.endpoint.port)) {
                throw std::invalid_argument("'any' is no CID to connect to");
            }
        } else if (raw.listen) {
            options.endpoint = transport::parse_endpoint(*raw.listen, port);
        } else {
            options.endpoint = transport::parse_endpoint("any", port);
        }
    } catch (const std::invalid_argument& error) {
        throw transport::UsageError((raw.sender ? "--sender: " : "--listen: ") +
                                    std::string(error.what()));
    }
    // Said in "Listen port": a path has none of its own.
    if (options.endpoint.family == transport::Family::local) options.endpoint.port = port;
    return options;
}

std::string compat_help() {
    Raw raw;
    return "Measures the throughput of a vsock connection. The receiver is started first and\n"
           "serves one sender. SIZE: a whole number and K, M, G, T, P or E (powers of 1024).\n\n" +
           table(raw).help() +
           "\nExamples:\n"
           "  vsock_perf --vsk-size 256K --buf-size 64K\n"
           "  vsock_perf --sender 3 --bytes 100M --buf-size 64K\n";
}

}  // namespace vsb::senders
