// What the tools add to a bare send/recv loop, in instructions per byte of everything that runs:
// kernel, sender and receiver, on one CPU under the exact clock, vsock loopback, Debian's kernel.
// One boot is one sample of one layout and one timer's phase, so that seeds are the replicates: the
// ratio bare / tools is the geometric mean over them, with a 95% t interval of its logarithm.
//
//   bench_exact [SEEDS [SIZE...]]        4 seeds unless given, at least 2
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "harness/guest/exact.h"
#include "transport/number.h"
#include "transport/results.h"
#include "transport/size.h"

namespace {

using namespace vsb::guest;

constexpr std::uint64_t kDeadlineNs = 600'000'000'000;

// Large enough that what a program does once (250,000 to 300,000 instructions, seen at 64K) is no
// half percent of it.
std::uint64_t bytes_of(std::uint64_t size) {
    return size * std::min<std::uint64_t>(30'000, (std::uint64_t{96} << 20) / size);
}

// The receiver's time from the first byte to the last: with one CPU that is never idle, everything
// that ran. `tools` or the bare loops.
ProgramPlan plan_of(bool tools, std::uint64_t size) {
    const std::string bytes = std::to_string(bytes_of(size));
    const std::string write = std::to_string(size);
    if (!tools) {
        return {{{Side::receiver, {"/vsb-bare", "receive", "vsock:any:1024", bytes, "64K"}},
                 {Side::sender, {"/vsb-bare", "send", "vsock:1:1024", bytes, write}}}};
    }
    return {
        {{Side::receiver, {"/vsb-receiver", "--listen", "vsock:any:1024"}},
         {Side::sender,
          {"/vsb-sender", "--connect", "vsock:1:1024", "--bytes", bytes, "--buf-size", write}}}};
}

double cost(const ReadyState& ready, const GuestOptions& options, bool tools, std::uint64_t size,
            std::uint64_t seed, const std::string& bare) {
    const ExactRuns exact =
        run_exact(ready, options, plan_of(tools, size), seed, monotonic_ns() + kDeadlineNs,
                  {{"vsb-bare", NodeKind::file, 0755, bare, 0, 0}});
    vsb::transport::ReadResults results;
    const std::string why = read_run(exact.runs.at(0).at(0), "receiver", results);
    if (!why.empty()) throw std::runtime_error(why);
    return results.fields.real("first_to_last_ns") / static_cast<double>(bytes_of(size));
}

// 97.5% quantile of Student's t (Cornish-Fisher expansion; within 0.5% from 3 degrees on).
double t_quantile(double df) {
    if (df < 2) return 12.706;
    if (df < 3) return 4.303;
    const double z = 1.959963985;
    const double z3 = z * z * z;
    const double z5 = z3 * z * z;
    return z + (z3 + z) / (4 * df) + (5 * z5 + 16 * z3 + 3 * z) / (96 * df * df) +
           (3 * z5 * z * z + 19 * z5 + 17 * z3 - 15 * z) / (384 * df * df * df);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const std::uint64_t seeds = argc > 1 ? vsb::transport::parse_number(argv[1], 2, 1000) : 4;
        std::vector<std::uint64_t> sizes;
        for (int i = 2; i < argc; ++i)
            sizes.push_back(vsb::transport::parse_size(argv[i]));
        if (sizes.empty()) sizes = {64, 256, 1024, 4096, 16384, 65536};
        GuestOptions options;
        options.vmm = Vmm::qemu;
        options.clock = GuestClock::exact;
        options.cache = cache_folder(std::getenv("XDG_CACHE_HOME"), std::getenv("HOME"));
        options.programs = VSB_BIN_DIR;
        options.scratch = "/dev/shm";
        const PrivateFolder folder(options.scratch.string());
        const ReadyState ready = make_ready("kernel=debian", options, folder.path() + "/initrd");
        const std::string bare = read_unpacked(VSB_BIN_DIR "/vsb-bare", std::size_t{64} << 20);
        std::printf("size     bare     tools  bare/tools [95%% CI]          n = %llu\n",
                    static_cast<unsigned long long>(seeds));
        for (const std::uint64_t size : sizes) {
            std::vector<double> logs;
            double sums[2] = {0, 0};
            for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
                const double a = cost(ready, options, false, size, seed, bare);
                const double b = cost(ready, options, true, size, seed, bare);
                sums[0] += std::log(a);
                sums[1] += std::log(b);
                logs.push_back(std::log(a / b));
            }
            const double n = static_cast<double>(seeds);
            const double mean = (sums[0] - sums[1]) / n;
            double squares = 0;
            for (const double one : logs)
                squares += (one - mean) * (one - mean);
            const double half = t_quantile(n - 1) * std::sqrt(squares / (n - 1) / n);
            std::printf("%-6s %8.3f %8.3f  %.4f [%.4f, %.4f]\n",
                        vsb::transport::format_size(size).c_str(), std::exp(sums[0] / n),
                        std::exp(sums[1] / n), std::exp(mean), std::exp(mean - half),
                        std::exp(mean + half));
            std::fflush(stdout);
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "bench_exact: %s\n", error.what());
        return 1;
    }
    return 0;
}
