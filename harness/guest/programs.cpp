#include "harness/guest/programs.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "harness/guest/orders.h"
#include "harness/rtt_figures.h"

namespace vsb::guest {
namespace {

using harness::Kind;
using harness::TrialRequest;
using harness::TrialResult;
using harness::Workload;
using Words = std::vector<std::string>;

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kVerifiedWrites = 64;
constexpr const char* kSamples = "/tmp/rtt";

std::string timeout_of(const TrialRequest& request) {
    return std::to_string(
        std::max<std::uint64_t>(1, static_cast<std::uint64_t>(request.timeout_ns) / kSecond));
}

void pin(Words& argv, int cpu) {
    if (cpu < 0) return;
    argv.insert(argv.end(), {"--cpu", std::to_string(cpu)});
}

std::string target_of(const ProgramEnds& ends, std::uint32_t port) {
    return "vsock:" + std::to_string(ends.cid) + ':' + std::to_string(port);
}

bool measures_cycles(const TrialRequest& request) {
    return request.workload.kind == Kind::cycles;
}

ProgramStep transfer(const TrialRequest& request, const ProgramEnds& ends, std::uint32_t port,
                     std::uint64_t writes, bool verify) {
    const Workload& workload = request.workload;
    ReceiverCall call;
    call.port = port;
    call.bytes = writes * workload.payload_bytes;
    call.recv_bytes = workload.recv_bytes;
    call.verify = verify;
    call.count_cycles = measures_cycles(request) && !verify;
    call.device_sends = false;
    call.timeout_s = std::stoull(timeout_of(request));
    call.cpus = ends.cpus;
    Words sender{"/vsb-sender",
                 "--connect",
                 target_of(ends, port),
                 "--bytes",
                 std::to_string(call.bytes),
                 "--buf-size",
                 std::to_string(workload.payload_bytes),
                 "--seed",
                 std::to_string(request.seed),
                 "--timeout",
                 timeout_of(request)};
    pin(sender, ends.sender_cpu);
    return {{Side::receiver, receiver_argv(call)}, {Side::sender, std::move(sender)}};
}

ProgramStep round_trips(const TrialRequest& request, const ProgramEnds& ends) {
    const Workload& workload = request.workload;
    Words server{"/vsb-pingpong", "--listen", "vsock:any:" + std::to_string(ends.port), "--timeout",
                 timeout_of(request)};
    pin(server, ends.cpus.receiver);
    Words client{"/vsb-pingpong",
                 "--connect",
                 target_of(ends, ends.port),
                 "--requests",
                 std::to_string(workload.writes),
                 "--warmup",
                 std::to_string(workload.writes / 10),
                 "--size",
                 std::to_string(workload.payload_bytes),
                 "--seed",
                 std::to_string(request.seed),
                 "--samples",
                 kSamples,
                 "--timeout",
                 timeout_of(request)};
    pin(client, ends.sender_cpu);
    return {{Side::receiver, std::move(server)}, {Side::sender, std::move(client), kSamples}};
}

// Every nanosecond in which a CPU of the guest ran a task.
double busy_ns(const GuestRun& run) {
    double sum = 0;
    for (const auto& [name, value] : run.counters) {
        if (name.starts_with("cpu") && name.ends_with("_run_ns")) sum += value;
    }
    return sum;
}

void transfer_figures(const std::vector<GuestRun>& runs, std::uint64_t planned, bool cycles,
                      const ProgramEnds& ends, TrialResult& result) {
    const GuestRun& got = runs.at(0);
    transport::ReadResults sent;
    throughput_figures(got, planned, cycles, result);
    if (result.failure.empty()) result.failure = read_run(runs.at(1), "vsb-sender", sent);
    if (!result.failure.empty()) return;
    const std::uint64_t bytes = sent.fields.number("bytes");
    if (bytes != planned) {
        result.failure =
            "bytes differ: planned " + std::to_string(planned) + ", sent " + std::to_string(bytes);
        return;
    }
    result.measurements.push_back({"bytes_sent", "B", static_cast<double>(bytes)});
    if (const double busy = busy_ns(got); ends.exact_clock && busy > 0) {
        result.measurements.push_back(
            {"busy_instructions_per_byte", "instructions/B", busy / static_cast<double>(planned)});
    }
    add_counters(got, result);
}

void rtt_figures_of(const std::vector<GuestRun>& runs, std::uint64_t planned, TrialResult& result) {
    transport::ReadResults ignored;
    result.failure = read_run(runs.at(1), "vsb-pingpong (client)", ignored);
    if (result.failure.empty()) {
        result.failure = read_run(runs.at(0), "vsb-pingpong (server)", ignored);
    }
    if (!result.failure.empty()) return;
    std::vector<std::uint64_t> samples;
    std::istringstream lines(runs.at(1).file);
    for (std::uint64_t one = 0; lines >> one;)
        samples.push_back(one);
    if (samples.size() != planned) {
        result.failure = "planned " + std::to_string(planned) + " round trips, measured " +
                         std::to_string(samples.size());
        return;
    }
    result.measurements = harness::rtt_figures(samples);
    result.samples.push_back({"rtt", "ns", samples});
    add_counters(runs.at(0), result);
}

}  // namespace

ProgramPlan plan_programs(const TrialRequest& request, const ProgramEnds& ends) {
    const Workload& workload = request.workload;
    if (workload.kind == Kind::rtt) return {round_trips(request, ends)};
    return {transfer(request, ends, ends.port, std::min(workload.writes, kVerifiedWrites), true),
            transfer(request, ends, ends.port + 1, workload.writes, false)};
}

TrialResult program_figures(const TrialRequest& request, const ProgramEnds& ends,
                            const std::vector<std::vector<GuestRun>>& runs) {
    const Workload& workload = request.workload;
    TrialResult result;
    try {
        if (workload.kind == Kind::rtt) {
            rtt_figures_of(runs.at(0), workload.writes, result);
        } else {
            const std::uint64_t writes = std::min(workload.writes, kVerifiedWrites);
            TrialResult check;
            transfer_figures(runs.at(0), writes * workload.payload_bytes, false, ends, check);
            if (!check.failure.empty()) {
                result.failure = "byte check: " + check.failure;
            } else {
                transfer_figures(runs.at(1), workload.writes * workload.payload_bytes,
                                 measures_cycles(request), ends, result);
            }
        }
    } catch (const std::exception& error) {
        result.failure = std::string("the programs' results: ") + error.what();
    }
    if (!result.failure.empty()) {
        result.measurements.clear();
        result.samples.clear();
    }
    return result;
}

TrialResult run_programs(ProgramRunner& receivers, ProgramRunner& senders,
                         const TrialRequest& request, const ProgramEnds& ends) {
    const std::uint64_t deadline_ns =
        monotonic_ns() + static_cast<std::uint64_t>(request.timeout_ns);
    std::vector<std::vector<GuestRun>> runs;
    for (const ProgramStep& step : plan_programs(request, ends)) {
        std::vector<std::uint64_t> ids;
        const auto runner = [&](const ProgramCall& call) -> ProgramRunner& {
            return call.side == Side::receiver ? receivers : senders;
        };
        for (const ProgramCall& call : step)
            ids.push_back(runner(call).start(call.argv, call.file));
        std::vector<GuestRun> done(step.size());
        // The last one started is the one that the others wait for.
        for (std::size_t i = step.size(); i-- > 0;)
            done[i] = runner(step[i]).finish(ids[i], deadline_ns, request.stop);
        const bool failed = std::ranges::any_of(
            done, [](const GuestRun& run) { return run.status != 0 || run.signal != 0; });
        runs.push_back(std::move(done));
        if (failed) break;
    }
    return program_figures(request, ends, runs);
}

std::string orders_text(const std::vector<std::pair<std::string, std::string>>& sysctls,
                        const ProgramPlan& plan) {
    std::string text;
    for (const auto& [name, value] : sysctls)
        text += set_order(name, value);
    std::uint64_t id = 0;
    for (const ProgramStep& step : plan) {
        const std::uint64_t first = id + 1;
        for (const ProgramCall& call : step)
            text += start_order(++id, call.argv, call.file);
        for (std::uint64_t one = first; one <= id; ++one)
            text += wait_order(one);
    }
    return text + stop_order();
}

}  // namespace vsb::guest
