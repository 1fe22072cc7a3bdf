#include "harness/host/host_target.h"

#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "harness/host/host_figures.h"
#include "harness/host/host_state.h"
#include "harness/host/tool.h"
#include "harness/process.h"
#include "transport/sockets.h"

namespace vsb::harness {
namespace {

constexpr std::uintmax_t kMaxSamplesBytes = 256 << 20;
constexpr std::uint64_t kCommandTimeoutNs = 600'000'000'000;

std::string folder_for_sockets() {
    std::error_code error;
    const auto folder = std::filesystem::temp_directory_path(error);
    // A unix socket's path holds 107 characters.
    return error || folder.string().size() > 60 ? "/tmp" : folder.string();
}

std::vector<std::uint64_t> read_samples(const std::string& file) {
    if (std::filesystem::file_size(file) > kMaxSamplesBytes) {
        throw std::runtime_error("the samples are larger than 256 MiB");
    }
    std::ifstream in(file);
    std::vector<std::uint64_t> samples;
    for (std::string line; std::getline(in, line);) {
        std::uint64_t ns = 0;
        const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), ns);
        if (error != std::errc{} || rest != line.data() + line.size()) {
            throw std::runtime_error("sample " + std::to_string(samples.size() + 1) +
                                     " is no number of ns");
        }
        samples.push_back(ns);
    }
    return samples;
}

class HostTarget : public Target {
  public:
    HostTarget(const Experiment& experiment, const std::string& own_bin)
        : states_{parse_host_state(experiment.a, own_bin), parse_host_state(experiment.b, own_bin)},
          endpoint_(experiment.endpoint),
          cpus_(experiment.cpus),
          folder_(folder_for_sockets()) {
        if (endpoint_ == "vsock") {
            transport::check_loopback(transport::system_calls(),
                                      transport::parse_endpoint("vsock:1:1"));
        }
    }

    void prepare(std::size_t state) override {
        const HostState& wanted = states_.at(state);
        if (wanted.command.empty()) return;
        SpawnPlan plan;
        plan.argv = wanted.command;
        const CommandResult done = run_command(plan, kCommandTimeoutNs);
        if (done.status == ExitStatus{}) return;
        throw std::runtime_error("cmd=" + wanted.command.front() + ": " +
                                 harness::describe(done.status) + ": " +
                                 done.output.substr(0, done.output.find('\n')));
    }

    TrialResult run(const TrialRequest& request) override {
        TrialResult result;
        try {
            result = request.workload.kind == Kind::rtt ? rtt(request) : throughput(request);
        } catch (const std::exception& error) {
            result.failure = error.what();
        }
        return result;
    }

    std::map<std::string, std::string> describe() const override {
        std::map<std::string, std::string> facts;
        facts["topology"] = "two processes on this host, " + endpoint_ + " stream socket";
        for (const auto& [role, cpu] : roles(cpus_))
            facts["cpu." + role] = std::to_string(cpu);
        return facts;
    }

    void stop() noexcept override {}

  private:
    std::string listen_at() {
        if (endpoint_ == "tcp") return "tcp:127.0.0.1:0";
        if (endpoint_ == "vsock") return "vsock:any:0";
        // A new name each time: nothing of an earlier trial can be in the way.
        return "unix:" + folder_.path() + "/" + std::to_string(++sockets_);
    }

    std::string connect_to(const std::string& listened, std::uint16_t port) const {
        if (endpoint_ == "tcp") return "tcp:127.0.0.1:" + std::to_string(port);
        if (endpoint_ == "vsock") return "vsock:1:" + std::to_string(port);
        return listened;
    }

    std::string tool(std::size_t state, const char* name) const {
        return states_.at(state).bin + "/" + name;
    }

    static void pin(std::vector<std::string>& argv, const std::optional<int>& cpu) {
        if (cpu) argv.insert(argv.end(), {"--cpu", std::to_string(*cpu)});
    }

    TrialResult throughput(const TrialRequest& request) {
        const Workload& work = request.workload;
        const std::uint64_t deadline =
            monotonic_ns() + static_cast<std::uint64_t>(request.timeout_ns);
        const std::string at = listen_at();
        std::vector<std::string> receive{tool(request.state, "vsb-receiver"), "--listen", at,
                                         "--recv-size", std::to_string(work.recv_bytes)};
        pin(receive, cpus_.receiver);
        if (work.kind == Kind::cycles) receive.emplace_back("--perf");
        Tool receiver("the receiver", receive, true);
        const std::uint16_t port = receiver.await_ready(deadline, request.stop);
        std::vector<std::string> send{tool(request.state, "vsb-sender"),
                                      "--connect",
                                      connect_to(at, port),
                                      "--bytes",
                                      std::to_string(work.writes * work.payload_bytes),
                                      "--buf-size",
                                      std::to_string(work.payload_bytes),
                                      "--seed",
                                      std::to_string(request.seed)};
        pin(send, cpus_.sender);
        Tool sender("the sender", send, false);
        await_both(receiver, sender, deadline, request.stop);
        TrialResult result;
        result.measurements = host_throughput(work, sender.results(), receiver.results());
        return result;
    }

    TrialResult rtt(const TrialRequest& request) {
        const Workload& work = request.workload;
        const std::uint64_t deadline =
            monotonic_ns() + static_cast<std::uint64_t>(request.timeout_ns);
        const std::string at = listen_at();
        const std::string pingpong = tool(request.state, "vsb-pingpong");
        std::vector<std::string> serve{pingpong, "--listen", at};
        pin(serve, cpus_.receiver);
        Tool server("the echo server", serve, true);
        const std::uint16_t port = server.await_ready(deadline, request.stop);
        const std::string samples = folder_.path() + "/samples";
        std::vector<std::string> ask{pingpong,
                                     "--connect",
                                     connect_to(at, port),
                                     "--requests",
                                     std::to_string(work.writes),
                                     "--warmup",
                                     std::to_string(work.writes / 10),
                                     "--size",
                                     std::to_string(work.payload_bytes),
                                     "--samples",
                                     samples};
        pin(ask, cpus_.sender);
        Tool client("the client", ask, false);
        await_both(server, client, deadline, request.stop);
        server.results();  // must have succeeded as well
        return host_rtt(work, client.results(), read_samples(samples));
    }

    // The failure of both sides is told: either may be the one that explains the other.
    static void await_both(Tool& one, Tool& other, std::uint64_t deadline_ns,
                           const std::function<bool()>& stop) {
        const std::array<Tool*, 2> both{&one, &other};
        Tool::await_all(both, deadline_ns, stop);
        if (one.succeeded() || other.succeeded()) return;  // results() names the one that failed
        std::string reasons;
        for (const Tool* tool : both) {
            try {
                tool->results();
            } catch (const std::exception& error) {
                reasons += (reasons.empty() ? "" : "; ") + std::string(error.what());
            }
        }
        throw std::runtime_error(reasons);
    }

    std::array<HostState, 2> states_;
    std::string endpoint_;
    CpuPlacement cpus_;
    PrivateFolder folder_;
    std::uint64_t sockets_ = 0;
};

}  // namespace

std::unique_ptr<Target> make_host_target(const Experiment& experiment, const std::string& own_bin) {
    return std::make_unique<HostTarget>(experiment, own_bin);
}

CpuPlacement host_placement(CpuPlacement given, const std::vector<int>& allowed) {
    if (given.worker || given.device) {
        throw std::invalid_argument(std::string("the host target has no ") +
                                    (given.worker ? "worker" : "device") +
                                    " (its roles are sender and receiver)");
    }
    // with_defaults() knows receiver and worker; the sender takes the worker's place.
    given.worker = given.sender;
    given = with_defaults(given, allowed);
    given.sender = given.worker;
    given.worker.reset();
    return given;
}

}  // namespace vsb::harness
