#include "pingpong/server.h"

#include <optional>
#include <vector>

#include "pingpong/exchange.h"
#include "receivers/perf/figures.h"
#include "transport/control.h"
#include "transport/errors.h"
#include "transport/figures.h"
#include "transport/pin.h"

namespace vsb::pingpong {
namespace {

using transport::Failure;

class Server {
  public:
    Server(transport::Calls& calls, const PingpongOptions& options)
        : calls_(calls),
          options_(options),
          listener_(calls, options.endpoint, socket_options(options)),
          peer_("the client on " + transport::format_endpoint(listener_.endpoint())) {}

    ServerOutcome run(const std::function<void(const transport::Endpoint&)>& listening) {
        listening(listener_.endpoint());
        control_.emplace(calls_, listener_.accept(deadline(), "the control connection"), peer_);
        try {
            agree();
            echo();
            settle();
        } catch (const std::exception& error) {
            control_->fail(error.what());
            throw;
        }
        return outcome_;
    }

  private:
    static transport::SocketOptions socket_options(const PingpongOptions& options) {
        transport::SocketOptions socket;
        socket.kind = options.kind;
        socket.vsock = options.vsock;
        // The client's plan is not known yet; a larger message is refused when it is.
        socket.max_message = std::uint64_t{1} << 20;
        return socket;
    }

    std::uint64_t deadline() { return calls_.now_ns() + options_.timeout_ns; }

    void agree() {
        const std::uint32_t control_cid = listener_.peer_cid();
        PingpongPlan& plan = outcome_.plan;
        try {
            plan = plan_of(control_->expect("PLAN", deadline()));
        } catch (const std::invalid_argument& error) {
            throw Failure("the plan of " + peer_ + ": " + error.what());
        }
        if (plan.nonce != options_.nonce) {
            throw Failure(peer_ + " has another nonce: it belongs to another run");
        }
        if (plan.kind != options_.kind) {
            throw Failure(peer_ + " wants " + std::string(transport::kind_name(plan.kind)) +
                          ", this is a server of " +
                          std::string(transport::kind_name(options_.kind)));
        }
        transport::ControlMessage ready{"READY", {}};
        ready.fields.add("port", std::uint64_t{listener_.endpoint().port});
        control_->send(ready, deadline());
        socket_ = listener_.accept(deadline(), "the data connection");
        if (listener_.peer_cid() != control_cid) {
            throw Failure("the data connection came from another CID than the control");
        }
        control_->send({"GO", {}}, deadline());
    }

    void echo() {
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
        const std::size_t size = outcome_.plan.size;
        std::vector<std::byte> buffer(size);
        std::optional<perf::Group> thread;
        std::optional<perf::Group> cpu;
        if (options_.perf) thread.emplace(perf::Group::of_thread(0));
        if (options_.perf_cpu) cpu.emplace(perf::Group::of_cpu(*options_.perf_cpu));
        const transport::Usage before = transport::usage_of_this_thread();
        if (cpu) cpu->start();
        if (thread) thread->start();
        while (exchange.receive(buffer.data(), size)) {
            exchange.send(buffer.data(), size);
            progress.bytes.store(++outcome_.requests, std::memory_order_relaxed);
        }
        if (thread) outcome_.counts = thread->stop();
        if (cpu) outcome_.cpu_counts = cpu->stop();
        outcome_.usage = transport::usage_of_this_thread() - before;
    }

    void settle() {
        const auto done = control_->expect("DONE", deadline());
        const std::string* sent = done.fields.find("requests");
        const std::string echoed = std::to_string(outcome_.requests);
        if (sent == nullptr || *sent != echoed) {
            throw Failure(peer_ + " sent " + (sent ? *sent : "no") + " requests, " + echoed +
                          " were echoed");
        }
        if (outcome_.requests != outcome_.plan.warmup + outcome_.plan.requests) {
            throw Failure(peer_ + " sent " + echoed + " requests, planned were " +
                          std::to_string(outcome_.plan.warmup + outcome_.plan.requests));
        }
        transport::ControlMessage reply{"DONE", {}};
        reply.fields.add("requests", outcome_.requests);
        control_->send(reply, deadline());
    }

    transport::Calls& calls_;
    const PingpongOptions& options_;
    transport::Listener listener_;
    std::string peer_;
    std::optional<transport::ControlChannel> control_;
    transport::Descriptor socket_;
    ServerOutcome outcome_;
};

}  // namespace

ServerOutcome run_server(transport::Calls& calls, const PingpongOptions& options,
                         const std::function<void(const transport::Endpoint&)>& listening) {
    transport::check_cpus_allowed(options.cpus);
    return Server(calls, options).run(listening);
}

transport::Results server_results(const PingpongOptions& options, const ServerOutcome& outcome) {
    transport::Results results;
    results.text("tool", "vsb-pingpong");
    results.text("role", "server");
    results.text("kind", transport::kind_name(options.kind));
    results.text("wait", options.busy_poll ? "busy-poll" : "blocking");
    results.text("cpu", transport::join(options.cpus));
    results.count("size_bytes", outcome.plan.size);
    results.count("requests", outcome.requests - outcome.plan.warmup);
    results.count("warmup_requests", outcome.plan.warmup);
    transport::add_usage(results, outcome.usage);
    const std::uint64_t n = outcome.requests;
    if (options.perf) perf::add_counts(results, "", outcome.counts, n, "_per_request");
    if (options.perf_cpu) perf::add_counts(results, "cpu_", outcome.cpu_counts, n, "_per_request");
    return results;
}

}  // namespace vsb::pingpong
