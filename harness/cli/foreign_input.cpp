#include "harness/cli/foreign_input.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include "datasets/benchfmt.h"
#include "datasets/google_benchmark.h"
#include "datasets/hyperfine.h"
#include "datasets/iperf3.h"
#include "datasets/vsock_perf.h"
#include "harness/cli/failure.h"
#include "harness/cli/perf_runs.h"

namespace vsb::cli {
namespace {

using datasets::ForeignCaps;
using datasets::ForeignFormat;

std::string read_all(std::istream& in, const std::string& name) {
    std::string text;
    std::string chunk(std::size_t{1} << 16U, '\0');
    while (in.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || in.gcount() > 0) {
        text.append(chunk, 0, static_cast<std::size_t>(in.gcount()));
        if (text.size() > ForeignCaps::kBytes) {
            throw Failure(kUsage, name + ": it is larger than " +
                                      std::to_string(ForeignCaps::kBytes >> 20U) +
                                      " MiB (import it in parts)");
        }
    }
    if (in.bad()) throw Failure(kUsage, name + ": it cannot be read");
    return text;
}

}  // namespace

ForeignText read_foreign_text(const std::string& file, const std::string& from) {
    ForeignText result;
    result.name = file == "-" ? "stdin" : file;
    if (file == "-") {
        result.text = read_all(std::cin, result.name);
    } else {
        std::error_code ignored;
        if (std::filesystem::is_directory(file, ignored)) {
            throw Failure(kUsage, file + ": it is a folder (name the files in it)");
        }
        errno = 0;
        std::ifstream in(file, std::ios::binary);
        if (!in) {
            const int error = errno;
            throw Failure(kUsage, file + ": it cannot be read: " + std::strerror(error));
        }
        result.text = read_all(in, result.name);
    }
    if (!from.empty()) {
        try {
            result.format = datasets::parse_foreign_format(from);
        } catch (const std::invalid_argument& error) {
            throw Failure(kUsage, std::string("--from: ") + error.what());
        }
        return result;
    }
    const auto format = datasets::format_of(result.text, result.name);
    if (!format) {
        throw Failure(kUsage, result.name +
                                  ": what wrote it cannot be told by looking (say so: --from csv, "
                                  "vsock_perf, iperf3, google-benchmark, perf-stat, "
                                  "perf-stat-json, hyperfine or benchfmt)");
    }
    result.format = *format;
    return result;
}

datasets::ForeignFile read_foreign(const ForeignText& text) {
    switch (text.format) {
        case ForeignFormat::vsock_perf:
            return datasets::read_vsock_perf(text.text, text.name);
        case ForeignFormat::iperf3:
            return datasets::read_iperf3(text.text, text.name);
        case ForeignFormat::google_benchmark:
            return datasets::read_google_benchmark(text.text, text.name);
        case ForeignFormat::perf_stat:
            return read_perf_stat(text.text, text.name);
        case ForeignFormat::perf_stat_json:
            return read_perf_stat_json(text.text, text.name);
        case ForeignFormat::hyperfine:
            return datasets::read_hyperfine(text.text, text.name);
        case ForeignFormat::benchfmt:
            return datasets::read_benchfmt(text.text, text.name);
        case ForeignFormat::csv:
            break;
    }
    throw std::invalid_argument(text.name + ": a CSV holds pairs, not the runs of one state");
}

}  // namespace vsb::cli
