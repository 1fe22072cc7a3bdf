// vsb-pingpong.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "pingpong/client.h"
#include "pingpong/server.h"
#include "transport/errors.h"
#include "transport/output.h"

namespace {

using vsb::pingpong::PingpongOptions;
using vsb::transport::Descriptor;
using vsb::transport::Format;
using vsb::transport::write_all;

vsb::transport::Results serve(const PingpongOptions& options) {
    const auto listening = [&](const vsb::transport::Endpoint& endpoint) {
        if (options.ready_fd >= 0) {
            write_all(options.ready_fd, "READY " + std::to_string(endpoint.port) + "\n");
        }
    };
    return vsb::pingpong::server_results(
        options, vsb::pingpong::run_server(vsb::transport::system_calls(), options, listening));
}

vsb::transport::Results ask(const PingpongOptions& options) {
    auto& calls = vsb::transport::system_calls();
    // Opened before the trial: a name that cannot be written costs no measurement.
    Descriptor samples;
    if (!options.samples_path.empty()) {
        samples = Descriptor(calls, ::open(options.samples_path.c_str(),
                                           O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
        if (!samples) {
            vsb::transport::throw_errno(errno, "opening for the samples", options.samples_path);
        }
    }
    const auto outcome = vsb::pingpong::run_client(calls, options);
    if (samples) write_all(samples.get(), vsb::pingpong::samples_text(outcome.rtt_ns));
    return vsb::pingpong::client_results(options, outcome);
}

}  // namespace

int main(int argc, char** argv) {
    ::signal(SIGPIPE, SIG_IGN);
    Format format = Format::lines;
    try {
        const std::vector<std::string> args(argv + std::min(argc, 1), argv + argc);
        const PingpongOptions options = vsb::pingpong::parse_pingpong_options(args);
        if (options.help) {
            write_all(STDOUT_FILENO, vsb::pingpong::pingpong_help());
            return 0;
        }
        format = options.format;
        const auto results = options.server ? serve(options) : ask(options);
        write_all(STDOUT_FILENO, format == Format::json ? results.json() : results.lines());
        return 0;
    } catch (const std::exception& error) {
        const int code = vsb::transport::exit_code_of(error);
        std::fprintf(stderr, "vsb-pingpong: %s\n", error.what());
        if (code != 2) {
            std::fputs((format == Format::json ? vsb::transport::failed_json(error.what())
                                               : vsb::transport::failed_lines(error.what()))
                           .c_str(),
                       stdout);
        }
        return code;
    }
}
