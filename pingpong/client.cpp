#include "pingpong/client.h"

#include <algorithm>
#include <cerrno>
#include <optional>

#include "pingpong/exchange.h"
#include "pingpong/plan.h"
#include "pingpong/rtt.h"
#include "receivers/perf/figures.h"
#include "transport/control.h"
#include "transport/errors.h"
#include "transport/figures.h"
#include "transport/payload.h"
#include "transport/pin.h"

namespace vsb::pingpong {
namespace {

using transport::Failure;

// Consecutive requests start at different places of the payload: a reply to another request is
// another text.
std::uint64_t place_of(std::uint64_t request) {
    return request * 977;
}

double clock_cost(transport::Calls& calls) {
    constexpr unsigned kReads = 1000;
    const std::uint64_t before = calls.now_ns();
    std::uint64_t after = before;
    for (unsigned i = 0; i < kReads; ++i)
        after = calls.now_ns();
    return static_cast<double>(after - before) / kReads;
}

class Client {
  public:
    Client(transport::Calls& calls, const PingpongOptions& options)
        : calls_(calls),
          options_(options),
          peer_("the server at " + transport::format_endpoint(options.endpoint)),
          payload_(options.seed, options.size),
          reply_(options.size) {}

    ClientOutcome run() {
        transport::SocketOptions socket;
        socket.kind = options_.kind;
        socket.vsock = options_.vsock;
        socket.max_message = options_.size;
        const std::uint64_t connected_by = calls_.now_ns() + options_.connect_timeout_ns;
        control_.emplace(
            calls_, transport::connect_to(calls_, options_.endpoint, socket, connected_by), peer_);
        try {
            PingpongPlan plan{options_.requests, options_.warmup, options_.size, options_.kind,
                              options_.nonce};
            control_->send(plan_message(plan), deadline());
            control_->expect("READY", deadline());
            socket_ = transport::connect_to(calls_, options_.endpoint, socket, connected_by);
            control_->expect("GO", deadline());
            measure();
            settle();
        } catch (const std::exception& error) {
            control_->fail(error.what());
            throw;
        }
        return outcome_;
    }

  private:
    std::uint64_t deadline() { return calls_.now_ns() + options_.timeout_ns; }

    void measure() {
        std::vector<transport::Progress> progress(1);
        transport::WatchPlan watch_plan;
        watch_plan.stall_ns = options_.timeout_ns;
        watch_plan.peer = peer_;
        transport::Watch watch(calls_, watch_plan, progress, &*control_);
        transport::WorkerPlan worker;
        worker.cpus = options_.cpus;
        transport::run_workers(
            worker, progress, watch,
            [this](unsigned, auto& own, const auto& attend) { work(own, attend); });
    }

    void work(transport::Progress& progress, const transport::Attend& attend) {
        Exchange exchange(calls_, socket_.get(), options_.kind, options_.busy_poll, peer_, progress,
                          attend);
        // Filled now, so that the first touch of its pages is not part of any sample.
        outcome_.rtt_ns.assign(options_.requests, 0);
        for (std::uint64_t i = 0; i < options_.warmup; ++i)
            one(exchange, progress, i);
        std::optional<perf::Group> thread;
        std::optional<perf::Group> cpu;
        if (options_.perf) thread.emplace(perf::Group::of_thread(0));
        if (options_.perf_cpu) cpu.emplace(perf::Group::of_cpu(*options_.perf_cpu));
        outcome_.clock_cost_ns = clock_cost(calls_);
        const transport::Usage before = transport::usage_of_this_thread();
        if (cpu) cpu->start();
        if (thread) thread->start();
        const std::uint64_t started = calls_.now_ns();
        for (std::uint64_t i = 0; i < options_.requests; ++i) {
            outcome_.rtt_ns[i] = one(exchange, progress, options_.warmup + i);
        }
        outcome_.whole_ns = calls_.now_ns() - started;
        if (thread) outcome_.counts = thread->stop();
        if (cpu) outcome_.cpu_counts = cpu->stop();
        outcome_.usage = transport::usage_of_this_thread() - before;
    }

    std::uint64_t one(Exchange& exchange, transport::Progress& progress, std::uint64_t request) {
        const std::uint64_t place = place_of(request);
        const std::uint64_t before = calls_.now_ns();
        bool there = false;
        try {
            exchange.send(payload_.at(place), options_.size);
            there = exchange.receive(reply_.data(), options_.size);
        } catch (const Failure& error) {
            throw Failure("request " + std::to_string(request) + ": " + error.what());
        }
        const std::uint64_t after = calls_.now_ns();
        if (!there) {
            throw Failure("request " + std::to_string(request) + " has no reply: " + peer_ +
                          " ended the stream");
        }
        if (const auto at = payload_.first_difference(place, reply_.data(), options_.size)) {
            throw Failure("the reply to request " + std::to_string(request) + " from " + peer_ +
                          " differs from byte " + std::to_string(*at) + " on");
        }
        if (after <= before) throw Failure("no time passed on the clock over a request");
        progress.bytes.store(request + 1, std::memory_order_relaxed);
        return after - before;
    }

    void settle() {
        if (calls_.shutdown(socket_.get(), SHUT_WR) < 0) {
            transport::throw_errno(errno, "ending the stream to", peer_);
        }
        const std::uint64_t total = options_.warmup + options_.requests;
        transport::ControlMessage done{"DONE", {}};
        done.fields.add("requests", total);
        control_->send(done, deadline());
        const auto reply = control_->expect("DONE", deadline());
        const std::string* echoed = reply.fields.find("requests");
        if (echoed == nullptr || *echoed != std::to_string(total)) {
            throw Failure(peer_ + " counted " + (echoed ? *echoed : "no") +
                          " requests, sent were " + std::to_string(total));
        }
    }

    transport::Calls& calls_;
    const PingpongOptions& options_;
    std::string peer_;
    transport::Payload payload_;
    std::vector<std::byte> reply_;
    std::optional<transport::ControlChannel> control_;
    transport::Descriptor socket_;
    ClientOutcome outcome_;
};

}  // namespace

ClientOutcome run_client(transport::Calls& calls, const PingpongOptions& options) {
    transport::check_cpus_allowed(options.cpus);
    return Client(calls, options).run();
}

transport::Results client_results(const PingpongOptions& options, const ClientOutcome& outcome) {
    transport::Results results;
    results.text("tool", "vsb-pingpong");
    results.text("role", "client");
    results.text("endpoint", transport::format_endpoint(options.endpoint));
    results.text("kind", transport::kind_name(options.kind));
    results.text("wait", options.busy_poll ? "busy-poll" : "blocking");
    results.text("cpu", transport::join(options.cpus));
    results.count("size_bytes", options.size);
    results.count("requests", outcome.rtt_ns.size());
    results.count("warmup_requests", options.warmup);
    const RttSummary summary = summarize(outcome.rtt_ns);
    results.real("rtt_mean_ns", summary.mean_ns);
    results.count("rtt_min_ns", summary.min_ns);
    for (const Percentile& one : summary.percentiles) {
        const std::string key = std::string("rtt_") + one.name + "_ns";
        if (one.ns) {
            results.count(key, *one.ns);
        } else {
            results.absent(key, "too few requests: it would be the maximum");
        }
    }
    results.count("rtt_max_ns", summary.max_ns);
    results.real("clock_cost_ns", outcome.clock_cost_ns);
    results.count("whole_ns", outcome.whole_ns);
    transport::add_usage(results, outcome.usage);
    const std::uint64_t n = outcome.rtt_ns.size();
    if (options.perf) perf::add_counts(results, "", outcome.counts, n, "_per_request");
    if (options.perf_cpu) perf::add_counts(results, "cpu_", outcome.cpu_counts, n, "_per_request");
    return results;
}

std::string samples_text(const std::vector<std::uint64_t>& rtt_ns) {
    std::string text;
    for (const std::uint64_t one : rtt_ns)
        text += std::to_string(one) + "\n";
    return text;
}

}  // namespace vsb::pingpong
