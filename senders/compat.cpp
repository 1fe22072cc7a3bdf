#include "senders/compat.h"

#include <unistd.h>

#include <cstdio>

#include "senders/compat_options.h"
#include "senders/compat_receiver.h"
#include "senders/sender.h"
#include "transport/output.h"
#include "transport/rate.h"
#include "transport/vsock_perf_words.h"

namespace vsb::senders {
namespace {

using transport::write_all;

void name_rates(const char* side, std::uint64_t bytes, std::uint64_t first_to_last_ns,
                std::uint64_t whole_ns) {
    char text[160];
    std::snprintf(text, sizeof text,
                  "%s, first to last byte: %f Gbits/s\n%s, whole loop: %f Gbits/s\n", side,
                  transport::gbit_per_s(bytes, first_to_last_ns).value_or(0), side,
                  transport::gbit_per_s(bytes, whole_ns).value_or(0));
    write_all(STDERR_FILENO, text);
}

void send(transport::Calls& calls, const CompatOptions& options) {
    SenderOptions to;
    to.endpoint = options.endpoint;
    to.bytes = options.bytes;
    to.write_bytes = options.buf_bytes;
    to.zerocopy = options.zerocopy;
    to.timed = true;
    to.control = false;
    write_all(STDOUT_FILENO, transport::sender_head(options.endpoint, options.bytes,
                                                    options.buf_bytes, options.zerocopy));
    const SenderOutcome outcome = run_sender(calls, to);
    write_all(STDOUT_FILENO,
              transport::sender_tail({outcome.bytes, outcome.loop_ns, outcome.in_send_ns}));
    name_rates("tx", outcome.bytes, outcome.first_to_last_ns, outcome.loop_ns);
}

void receive(transport::Calls& calls, const CompatOptions& options) {
    const CompatReceived received = compat_receive(calls, options, [&] {
        write_all(STDOUT_FILENO, transport::receiver_head(options.endpoint, options.buf_bytes,
                                                          options.vsk_bytes, options.rcvlowat));
    });
    write_all(STDOUT_FILENO, transport::receiver_tail(received.words));
    name_rates("rx", received.words.bytes, received.first_to_last_ns, received.words.loop_ns);
}

}  // namespace

int run_compat(transport::Calls& calls, std::span<const std::string> args) {
    const CompatOptions options = parse_compat_options(args);
    if (options.help) {
        write_all(STDOUT_FILENO, compat_help());
        return 1;
    }
    if (options.sender) {
        send(calls, options);
    } else {
        receive(calls, options);
    }
    return 0;
}

}  // namespace vsb::senders
