#include "harness/guest/trial.h"

#include <algorithm>
#include <sstream>

#include "harness/rtt_figures.h"
#include "transport/fields.h"

namespace vsb::guest {
namespace {

using harness::Kind;
using harness::TrialRequest;
using harness::TrialResult;
using harness::Workload;

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kVerifiedWrites = 64;

double as_double(std::uint64_t value) {
    return static_cast<double>(value);
}

// The last line of what a tool said, for a failure that is not in its results.
std::string last_line(const std::string& output) {
    std::istringstream lines(output);
    std::string line;
    std::string last;
    while (std::getline(lines, line)) {
        if (!line.empty()) last = line;
    }
    return transport::escape(last.substr(0, 300));
}

std::string status_text(const GuestRun& run) {
    return describe(ExitStatus{run.status, run.signal});
}

// The tool's stderr comes in the same pipe, before its results: lines that are no key=value.
transport::ReadResults results_of(const GuestRun& run) {
    std::istringstream lines(run.output);
    std::string line;
    std::string text;
    while (std::getline(lines, line)) {
        const bool message = line.starts_with("vsb-") && line.find(": ") != std::string::npos;
        if (!message) text += line + '\n';
    }
    return transport::read_results(text);
}

void add_field(const transport::Fields& fields, const char* key, const char* metric,
               const char* unit, TrialResult& result) {
    if (fields.find(key) != nullptr) {
        result.measurements.push_back({metric, unit, fields.real(key)});
    }
}

void add_device(const DeviceCounts& counts, TrialResult& result) {
    const auto add = [&](const char* name, std::uint64_t value) {
        result.measurements.push_back({std::string("device.") + name, "1", as_double(value)});
    };
    add("rx_packets", counts.rx_packets);
    add("tx_packets", counts.tx_packets);
    add("bursts", counts.bursts);
    add("publications", counts.publications);
    add("signals", counts.signals);
    add("starved", counts.starved);
    add("credit_waits", counts.credit_waits);
    if (counts.complaints != 0) {
        result.warnings.push_back({"guest-packets", std::to_string(counts.complaints) +
                                                        " packets or buffers of the guest were not "
                                                        "as they should be"});
    }
}

class Trial {
  public:
    Trial(Guest& guest, Device& device, const TrialRequest& request, const GuestCpus& cpus,
          std::uint32_t port)
        : guest_(guest),
          device_(device),
          request_(request),
          cpus_(cpus),
          port_(port),
          deadline_ns_(monotonic_ns() + static_cast<std::uint64_t>(request.timeout_ns)) {}

    TrialResult run() {
        const Workload& workload = request_.workload;
        TrialResult result;
        if (workload.kind == Kind::rtt) {
            ping_from_device(result);
        } else {
            // First a short transfer whose every byte is compared: outside the measured one, where
            // the comparison would be part of the receiver's time.
            const std::uint64_t writes = std::min<std::uint64_t>(workload.writes, kVerifiedWrites);
            TrialResult check;
            transfer(port_, writes, true, check);
            result.failure = check.failure.empty() ? "" : "byte check: " + check.failure;
            if (result.failure.empty()) transfer(port_ + 1, workload.writes, false, result);
        }
        if (!result.failure.empty()) {
            result.measurements.clear();
            result.samples.clear();
        }
        return result;
    }

  private:
    std::function<std::string()> watch(const Job& job) {
        return [this, &job]() -> std::string {
            if (request_.stop && request_.stop()) return "interrupted";
            return guest_.look(0, job.progress());
        };
    }

    void transfer(std::uint32_t port, std::uint64_t writes, bool verify, TrialResult& result) {
        const Workload& workload = request_.workload;
        ReceiverCall call;
        call.port = port;
        call.bytes = writes * workload.payload_bytes;
        call.recv_bytes = workload.recv_bytes;
        call.seed = request_.seed;
        call.verify = verify;
        call.count_cycles = workload.kind == Kind::cycles && !verify;
        call.timeout_s = timeout_s();
        call.cpus = cpus_;
        const std::uint64_t receiver = guest_.start(receiver_argv(call));
        const DeviceCounts before = device_.counts();
        SendJob job(device_.host(), monotonic_ns,
                    {port, writes, workload.payload_bytes, request_.seed});
        device_.run(job, deadline_ns_, watch(job));
        if (!job.failure().empty()) {
            result.failure = told_by_receiver(receiver, job.failure());
            return;
        }
        const GuestRun got = guest_.finish(receiver, deadline_ns_, request_.stop);
        throughput_figures(got, call.bytes, call.count_cycles, result);
        if (!result.failure.empty()) return;
        result.measurements.push_back({"bytes_sent", "B", as_double(job.bytes())});
        add_counters(got, result);
        add_device(device_.counts() - before, result);
    }

    // When the device's job failed, somebody in the guest may know better why.
    std::string told_by_receiver(std::uint64_t id, const std::string& failure) {
        try {
            const std::uint64_t soon = std::min(deadline_ns_, monotonic_ns() + kSecond);
            const GuestRun run = guest_.finish(id, soon, request_.stop);
            transport::ReadResults results;
            const std::string why = read_run(run, "vsb-receiver", results);
            return why.empty() ? failure : failure + " (" + why + ")";
        } catch (const GuestFailure& lost) {
            // A fault of the kernel and the machine's end explain everything else (a connection of
            // the device's that closed); a program that only waits explains nothing.
            const bool explains = lost.fault() == Fault::kernel || lost.fault() == Fault::ended;
            return explains ? lost.what() : failure;
        }
    }

    void ping_from_device(TrialResult& result) {
        const Workload& workload = request_.workload;
        const std::uint64_t server = guest_.start(
            {"/vsb-pingpong", "--listen", "vsock:any:" + std::to_string(port_), "--cpu",
             std::to_string(cpus_.receiver), "--timeout", std::to_string(timeout_s())});
        const DeviceCounts before = device_.counts();
        PingJob job(device_.host(), monotonic_ns,
                    {port_, workload.writes, workload.writes / 10, workload.payload_bytes,
                     request_.seed, ""});
        device_.run(job, deadline_ns_, watch(job));
        if (!job.failure().empty()) {
            result.failure = told_by_receiver(server, job.failure());
            return;
        }
        const GuestRun run = guest_.finish(server, deadline_ns_, request_.stop);
        transport::ReadResults results;
        result.failure = read_run(run, "vsb-pingpong", results);
        if (!result.failure.empty()) return;
        result.measurements = harness::rtt_figures(job.rtt_ns());
        result.samples.push_back({"rtt", "ns", job.rtt_ns()});
        add_counters(run, result);
        add_device(device_.counts() - before, result);
    }

    std::uint64_t timeout_s() const {
        return std::max<std::uint64_t>(1,
                                       static_cast<std::uint64_t>(request_.timeout_ns) / kSecond);
    }

    Guest& guest_;
    Device& device_;
    const TrialRequest& request_;
    GuestCpus cpus_;
    std::uint32_t port_;
    std::uint64_t deadline_ns_;
};

}  // namespace

std::string read_run(const GuestRun& run, const std::string& tool, transport::ReadResults& to) {
    try {
        to = results_of(run);
    } catch (const std::exception& error) {
        const std::string last = last_line(run.output);
        return tool + ": " + status_text(run) +
               (last.empty() ? ", no results" : ", no whole results; it said last: " + last);
    }
    if (!to.ok) return tool + ": " + transport::escape(to.reason.substr(0, 300));
    if (run.status != 0 || run.signal != 0) return tool + ": " + status_text(run);
    return {};
}

void add_counters(const GuestRun& run, TrialResult& result) {
    for (const auto& [name, value] : run.counters) {
        const bool time = name.ends_with("_ns");
        result.measurements.push_back({"guest." + name, time ? "ns" : "1", value});
    }
}

GuestCpus guest_cpus(Vmm vmm, std::uint32_t cpus) {
    if (cpus < 2) return {0, 0};
    return vmm == Vmm::uml ? GuestCpus{1, 0} : GuestCpus{0, 1};
}

std::vector<std::string> receiver_argv(const ReceiverCall& call) {
    std::vector<std::string> argv{"/vsb-receiver",
                                  "--listen",
                                  "vsock:any:" + std::to_string(call.port),
                                  "--recv-size",
                                  std::to_string(call.recv_bytes),
                                  "--cpu",
                                  std::to_string(call.cpus.receiver),
                                  "--timeout",
                                  std::to_string(call.timeout_s)};
    const auto add = [&argv](std::initializer_list<std::string> more) {
        argv.insert(argv.end(), more);
    };
    if (call.device_sends) {
        add({"--control", "none", "--expect", std::to_string(call.bytes), "--seed",
             std::to_string(call.seed)});
    }
    if (call.verify) add({"--verify"});
    if (call.count_cycles) add({"--perf-cpu", std::to_string(call.cpus.worker)});
    return argv;
}

void throughput_figures(const GuestRun& run, std::uint64_t planned, bool count_cycles,
                        TrialResult& result) {
    transport::ReadResults results;
    result.failure = read_run(run, "vsb-receiver", results);
    if (!result.failure.empty()) return;
    try {
        const transport::Fields& fields = results.fields;
        const std::uint64_t bytes = fields.number("bytes");
        const std::uint64_t first_to_last_ns = fields.number("first_to_last_ns");
        if (bytes != planned || fields.text("checked") != "yes") {
            result.failure = "bytes differ: planned " + std::to_string(planned) + ", received " +
                             std::to_string(bytes);
            return;
        }
        if (first_to_last_ns == 0) {
            result.failure = "the clock did not advance between the first and the last byte";
            return;
        }
        if (count_cycles) {
            if (const auto* why = fields.find("cpu_cycles_absent")) {
                result.failure = "no cycles were counted in the guest: " + *why;
                return;
            }
            add_field(fields, "cpu_cycles_per_byte", "cycles_per_byte", "cycles/B", result);
            add_field(fields, "cpu_instructions_per_byte", "instructions_per_byte",
                      "instructions/B", result);
            if (result.measurements.empty()) result.failure = "no cycles were counted in the guest";
            return;
        }
        result.measurements.push_back(
            {"throughput", "Gbit/s", as_double(bytes) * 8 / as_double(first_to_last_ns)});
        add_field(fields, "recvs", "recv_calls", "1", result);
        result.measurements.push_back(
            {"context_switches", "1",
             fields.real("voluntary_switches") + fields.real("involuntary_switches")});
        result.measurements.push_back({"bytes_received", "B", as_double(bytes)});
        add_field(fields, "whole_ns", "whole_time", "ns", result);
        add_field(fields, "user_ns", "user_time", "ns", result);
        add_field(fields, "system_ns", "system_time", "ns", result);
    } catch (const std::exception& error) {
        result.failure = std::string("vsb-receiver's results: ") + error.what();
        result.measurements.clear();
    }
}

TrialResult run_guest_trial(Guest& guest, Device& device, const TrialRequest& request,
                            const GuestCpus& cpus, std::uint32_t port) {
    return Trial(guest, device, request, cpus, port).run();
}

}  // namespace vsb::guest
