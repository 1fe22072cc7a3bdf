#pragma once
// What a file of another benchmark says, in our terms: runs of workloads, each with measurements.
// The readers beside this file make it; datasets/FORMATS.md says what each of them takes.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "datasets/records.h"

namespace vsb::datasets {

struct ForeignRun {
    WorkloadRecord workload;        // name and kind always; sizes where the file tells them
    std::string started;            // UTC, ISO 8601 with a Z; empty where the file does not tell
    std::int64_t wall_time_ns = 0;  // 0 where it does not
    // The headline first, which is above zero; the others are not negative. All finite, no metric
    // twice.
    std::vector<Measurement> measurements;
};

struct ForeignFile {
    std::string format;            // "vsock_perf", "iperf3", ...
    std::vector<ForeignRun> runs;  // in the order made; at least one
    std::map<std::string, std::string> environment;
    std::vector<std::string> notes;  // what a reader of the figures should know
};

// Past these a file is refused.
struct ForeignCaps {
    static constexpr std::size_t kBytes = std::size_t{64} << 20U;
    static constexpr std::size_t kLines = 1'000'000;
    static constexpr std::size_t kLineBytes = 65536;
    static constexpr std::size_t kDepth = 64;  // of arrays and objects in JSON
    static constexpr std::size_t kRuns = 1'000'000;
};

// "64B", "1K", "64K", "2G": payloads in the spelling of the mailing lists.
std::string payload_name(std::int64_t bytes);

}  // namespace vsb::datasets
