#include "harness/cli/foreign_any_input.h"

#include <array>
#include <cmath>
#include <set>
#include <stdexcept>
#include <vector>

#include "datasets/benchfmt.h"
#include "datasets/csv_any_input.h"
#include "datasets/csv_fields.h"
#include "datasets/foreign_format.h"
#include "datasets/google_benchmark.h"
#include "datasets/hyperfine.h"
#include "datasets/import_error.h"
#include "datasets/iperf3.h"
#include "datasets/pairing.h"
#include "datasets/trials.h"
#include "datasets/vsock_perf.h"
#include "harness/cli/perf_runs.h"

namespace vsb::cli {
namespace {

using datasets::ForeignFile;
using datasets::ForeignRun;
using datasets::Measurement;

struct Named {
    const char* name;
    ForeignFile (*read)(std::string_view, const std::string&);
};
constexpr std::array<Named, 7> kReaders = {{
    {"vsock_perf", datasets::read_vsock_perf},
    {"iperf3", datasets::read_iperf3},
    {"google-benchmark", datasets::read_google_benchmark},
    {"hyperfine", datasets::read_hyperfine},
    {"benchfmt", datasets::read_benchfmt},
    {"perf-stat", read_perf_stat},
    {"perf-stat-json", read_perf_stat_json},
}};

std::string fault_of(const ForeignRun& run) {
    if (run.workload.name.empty() || run.workload.kind.empty()) return "a workload without a name";
    if (datasets::text_fault(run.workload.name)) return "a workload's name is no text";
    if (run.workload.payload_bytes < 0 || run.workload.recv_bytes < 0 || run.workload.writes < 0 ||
        run.wall_time_ns < 0) {
        return "a negative size";
    }
    if (run.measurements.empty()) return "a run without a figure";
    if (!(run.measurements.front().value > 0)) return "a headline that is not above zero";
    std::set<std::string> metrics;
    for (const Measurement& each : run.measurements) {
        if (!std::isfinite(each.value) || each.value < 0) return "a figure that is none";
        if (datasets::text_fault(each.metric) || datasets::text_fault(each.unit)) {
            return "a metric's name is no text";
        }
        if (!metrics.insert(each.metric).second) return "a metric twice";
    }
    return {};
}

std::string fault_of(const ForeignFile& file) {
    if (file.runs.empty()) return "a file of nothing";
    for (const ForeignRun& run : file.runs) {
        if (auto fault = fault_of(run); !fault.empty()) return fault;
    }
    const std::vector<datasets::StateFile> state = {{"any", file}};
    try {
        for (const auto& trial : datasets::pair_files(state, state, {"AB", ""}).trials)
            datasets::check_new(trial);
    } catch (const std::invalid_argument& error) {
        // A workload whose runs measure other things than each other is refused there.
        const std::string_view what = error.what();
        if (what.find(" measures ") == std::string_view::npos) return error.what();
    }
    return {};
}

// "any:12: column 3: why" or "any: where: why".
bool names_a_place(const std::string& what) {
    if (!what.starts_with("any:")) return false;
    for (const char c : what) {
        if (static_cast<unsigned char>(c) < 0x20) return false;
    }
    return what.size() > sizeof("any: ");
}

}  // namespace

AnyInput try_any_input(const std::string& input) {
    AnyInput result;
    try {
        datasets::format_of(input, "any");
    } catch (const datasets::ImportError& error) {
        if (!names_a_place(error.what())) return {std::string("no place: ") + error.what(), 0};
    }
    for (const Named& each : kReaders) {
        try {
            const ForeignFile file = each.read(input, "any");
            ++result.read;
            result.broken = fault_of(file);
        } catch (const datasets::ImportError& error) {
            if (!names_a_place(error.what())) {
                result.broken = std::string("no place: ") + error.what();
            }
        } catch (const std::exception& error) {
            result.broken = std::string("another error: ") + error.what();
        }
        if (!result.broken.empty()) {
            result.broken = std::string(each.name) + ": " + result.broken;
            return result;
        }
    }
    if (auto broken = datasets::broken_promise(input); !broken.empty()) {
        result.broken = "csv: " + broken;
    }
    return result;
}

}  // namespace vsb::cli
