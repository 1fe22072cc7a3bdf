// The tools against bare loops over unix sockets: what the handshake, the checks and the counting
// leave of the throughput. Pairs are interleaved and their order alternates; the ratio (tools /
// bare) is the geometric mean of the pairs', with a 95% t interval of its logarithm. Both forms
// have their sender and receiver on the same two CPUs: where the scheduler happens to put them
// would otherwise be most of the spread.
//
//   bench_tools [PAIRS [SIZE...]]        16 pairs unless given, at least 4; 64 B to 64 KiB
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "transport/calls.h"
#include "transport/number.h"
#include "transport/results.h"
#include "transport/size.h"
#include "transport/testing/child.h"

namespace {

using vsb::transport::testing::Child;

constexpr std::size_t kRecv = 65536;

// The first two CPUs this process may use; one twice where there is no second.
struct Cpus {
    int sender = 0;
    int receiver = 0;
};

Cpus two_cpus() {
    cpu_set_t allowed;
    if (::sched_getaffinity(0, sizeof allowed, &allowed) < 0) {
        throw std::runtime_error("sched_getaffinity");
    }
    std::vector<int> found;
    for (int cpu = 0; cpu < CPU_SETSIZE && found.size() < 2; ++cpu) {
        if (CPU_ISSET(cpu, &allowed)) found.push_back(cpu);
    }
    return {found.front(), found.back()};
}

// The tools' processes are started from here: they must not inherit where the bare receiver was.
class Pinned {
  public:
    explicit Pinned(int cpu);
    ~Pinned() { ::sched_setaffinity(0, sizeof before_, &before_); }
    Pinned(const Pinned&) = delete;
    Pinned& operator=(const Pinned&) = delete;

  private:
    cpu_set_t before_{};
};

void pin(int cpu) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (::sched_setaffinity(0, sizeof one, &one) < 0) throw std::runtime_error("sched_setaffinity");
}

std::uint64_t now_ns() {
    return vsb::transport::system_calls().now_ns();
}

Pinned::Pinned(int cpu) {
    if (::sched_getaffinity(0, sizeof before_, &before_) < 0) {
        throw std::runtime_error("sched_getaffinity");
    }
    pin(cpu);
}

// First byte there to last byte read, in Gbit/s; the sender is another process.
double bare(std::uint64_t writes, std::size_t size, const Cpus& cpus) {
    const Pinned receiver(cpus.receiver);
    int fds[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0) {
        throw std::runtime_error("socketpair");
    }
    const pid_t sender = ::fork();
    if (sender == 0) {
        ::close(fds[0]);
        pin(cpus.sender);
        const std::vector<char> buffer(size, 'x');
        for (std::uint64_t i = 0; i < writes; ++i) {
            if (::send(fds[1], buffer.data(), size, 0) != static_cast<ssize_t>(size)) ::_exit(1);
        }
        ::_exit(0);
    }
    ::close(fds[1]);
    std::vector<char> buffer(kRecv);
    pollfd waiting{fds[0], POLLIN, 0};
    ::poll(&waiting, 1, -1);
    const std::uint64_t first = now_ns();
    std::uint64_t last = first;
    std::uint64_t bytes = 0;
    for (;;) {
        const ssize_t n = ::recv(fds[0], buffer.data(), kRecv, 0);
        if (n <= 0) break;
        bytes += static_cast<std::uint64_t>(n);
        if (bytes == writes * size) last = now_ns();
    }
    ::close(fds[0]);
    int status = 0;
    ::waitpid(sender, &status, 0);
    if (status != 0 || bytes != writes * size) throw std::runtime_error("the bare loop lost bytes");
    return static_cast<double>(bytes) * 8.0 / static_cast<double>(last - first);
}

double tools(std::uint64_t writes, std::size_t size, const std::string& folder, const Cpus& cpus) {
    const std::string endpoint = "unix:" + folder + "/s";
    Child receiver({VSB_BIN_DIR "/vsb-receiver", "--listen", endpoint, "--ready-fd", "3", "--cpu",
                    std::to_string(cpus.receiver)});
    receiver.ready();
    Child sender({VSB_BIN_DIR "/vsb-sender", "--connect", endpoint, "--buf-size",
                  std::to_string(size), "--bytes", std::to_string(writes * size), "--cpu",
                  std::to_string(cpus.sender)});
    if (sender.wait() != 0 || receiver.wait() != 0) throw std::runtime_error(receiver.err());
    return vsb::transport::read_results(receiver.out()).fields.real("first_to_last_gbit_s");
}

// 97.5% quantile of Student's t (Cornish-Fisher expansion; within 0.5% from 3 degrees on).
double t_quantile(double df) {
    const double z = 1.959963985;
    const double z3 = z * z * z;
    const double z5 = z3 * z * z;
    return z + (z3 + z) / (4 * df) + (5 * z5 + 16 * z3 + 3 * z) / (96 * df * df) +
           (3 * z5 * z * z + 19 * z5 + 17 * z3 - 15 * z) / (384 * df * df * df);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const std::uint64_t pairs = argc > 1 ? vsb::transport::parse_number(argv[1], 4, 10000) : 16;
        const vsb::transport::testing::TemporaryFolder folder;
        const Cpus cpus = two_cpus();
        std::printf("size   tools/bare [95%% CI]            n = %llu\n",
                    static_cast<unsigned long long>(pairs));
        std::vector<std::size_t> sizes{64, 256, 1024, 4096, 16384, 65536};
        if (argc > 2) sizes.clear();
        for (int i = 2; i < argc; ++i) {
            sizes.push_back(vsb::transport::parse_number(argv[i], 1, 1u << 20));
        }
        for (const std::size_t size : sizes) {
            const std::uint64_t writes = std::min<std::uint64_t>(200000, (1u << 28) / size);
            std::vector<double> logs;
            for (std::uint64_t i = 0; i < pairs; ++i) {
                double a = 0;
                double b = 0;
                if (i % 2 == 0) a = bare(writes, size, cpus);
                b = tools(writes, size, folder.path(), cpus);
                if (i % 2 == 1) a = bare(writes, size, cpus);
                logs.push_back(std::log(b / a));
            }
            double mean = 0;
            for (const double one : logs)
                mean += one / static_cast<double>(pairs);
            double squares = 0;
            for (const double one : logs)
                squares += (one - mean) * (one - mean);
            const double n = static_cast<double>(pairs);
            const double half = t_quantile(n - 1) * std::sqrt(squares / (n - 1) / n);
            std::printf("%-6s %.4f [%.4f, %.4f]\n", vsb::transport::format_size(size).c_str(),
                        std::exp(mean), std::exp(mean - half), std::exp(mean + half));
            std::fflush(stdout);
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "bench_tools: %s\n", error.what());
        return 1;
    }
    return 0;
}
