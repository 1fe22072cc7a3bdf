// vsb-receiver.

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "receivers/receiver.h"
#include "transport/errors.h"
#include "transport/output.h"
#include "transport/vsock_perf_words.h"

namespace {

using vsb::receivers::ReceiverOptions;
using vsb::transport::Format;
using vsb::transport::write_all;

void run(const ReceiverOptions& options) {
    const bool words = options.format == Format::vsock_perf;
    const auto listening = [&](const vsb::transport::Endpoint& endpoint) {
        if (words) {
            write_all(STDOUT_FILENO, vsb::transport::receiver_head(endpoint, options.recv_bytes,
                                                                   options.vsock.size.value_or(0),
                                                                   options.rcvlowat.value_or(1)));
        }
        if (options.ready_fd >= 0) {
            write_all(options.ready_fd, "READY " + std::to_string(endpoint.port) + "\n");
        }
    };
    const auto interval = [](double at_s, double gbit_s) {
        char text[80];
        std::snprintf(text, sizeof text, "[%8.2f s] %f Gbit/s\n", at_s, gbit_s);
        write_all(STDERR_FILENO, text);
    };
    const auto outcome =
        vsb::receivers::run_receiver(vsb::transport::system_calls(), options, listening, interval);
    if (words) {
        write_all(STDOUT_FILENO, vsb::transport::receiver_tail({outcome.bytes, outcome.whole_ns,
                                                                outcome.in_recv_ns, outcome.recvs,
                                                                outcome.wakeups}));
        return;
    }
    const auto results = vsb::receivers::receiver_results(options, outcome);
    write_all(STDOUT_FILENO, options.format == Format::json ? results.json() : results.lines());
}

}  // namespace

int main(int argc, char** argv) {
    ::signal(SIGPIPE, SIG_IGN);
    Format format = Format::vsock_perf;
    try {
        const std::vector<std::string> args(argv + std::min(argc, 1), argv + argc);
        const ReceiverOptions options = vsb::receivers::parse_receiver_options(args);
        if (options.help) {
            write_all(STDOUT_FILENO, vsb::receivers::receiver_help());
            return 0;
        }
        format = options.format;
        run(options);
        return 0;
    } catch (const std::exception& error) {
        const int code = vsb::transport::exit_code_of(error);
        std::fprintf(stderr, "vsb-receiver: %s\n", error.what());
        if (code != 2 && format == Format::lines) {
            std::fputs(vsb::transport::failed_lines(error.what()).c_str(), stdout);
        } else if (code != 2 && format == Format::json) {
            std::fputs(vsb::transport::failed_json(error.what()).c_str(), stdout);
        }
        return code;
    }
}
