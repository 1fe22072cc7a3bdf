// vsb-sender; by the name vsock_perf, or with --vsock-perf-compat, that program.

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "senders/compat.h"
#include "senders/sender.h"
#include "transport/errors.h"
#include "transport/output.h"
#include "transport/vsock_perf_words.h"

namespace {

using vsb::senders::SenderOptions;
using vsb::transport::Format;
using vsb::transport::write_all;

int run_native(const SenderOptions& options) {
    auto& calls = vsb::transport::system_calls();
    const auto interval = [](double at_s, double gbit_s) {
        char text[80];
        std::snprintf(text, sizeof text, "[%8.2f s] %f Gbit/s\n", at_s, gbit_s);
        write_all(STDERR_FILENO, text);
    };
    const bool words = options.format == Format::vsock_perf;
    if (words) {
        write_all(STDOUT_FILENO,
                  vsb::transport::sender_head(options.endpoint, options.bytes, options.write_bytes,
                                              options.zerocopy));
    }
    const auto outcome = vsb::senders::run_sender(calls, options, interval);
    if (words) {
        write_all(STDOUT_FILENO, vsb::transport::sender_tail(
                                     {outcome.bytes, outcome.loop_ns, outcome.in_send_ns}));
        return 0;
    }
    const auto results = vsb::senders::sender_results(options, outcome);
    write_all(STDOUT_FILENO, options.format == Format::json ? results.json() : results.lines());
    return 0;
}

bool called_vsock_perf(const char* path) {
    const std::string_view name(path == nullptr ? "" : path);
    return name.substr(name.rfind('/') + 1) == "vsock_perf";
}

}  // namespace

int main(int argc, char** argv) {
    ::signal(SIGPIPE, SIG_IGN);
    bool compat = argc > 0 && called_vsock_perf(argv[0]);
    std::string name = compat ? "vsock_perf" : "vsb-sender";
    Format format = Format::vsock_perf;
    try {
        std::vector<std::string> args(argv + std::min(argc, 1), argv + argc);
        compat = std::erase(args, "--vsock-perf-compat") > 0 || compat;
        if (compat) return vsb::senders::run_compat(vsb::transport::system_calls(), args);
        const SenderOptions options = vsb::senders::parse_sender_options(args);
        if (options.help) {
            write_all(STDOUT_FILENO, vsb::senders::sender_help());
            return 0;
        }
        format = options.format;
        return run_native(options);
    } catch (const std::exception& error) {
        const int code = vsb::transport::exit_code_of(error);
        std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
        if (code != 2 && format == Format::lines) {
            std::fputs(vsb::transport::failed_lines(error.what()).c_str(), stdout);
        } else if (code != 2 && format == Format::json) {
            std::fputs(vsb::transport::failed_json(error.what()).c_str(), stdout);
        }
        return code;
    }
}
