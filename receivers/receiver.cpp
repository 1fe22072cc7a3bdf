#include "receivers/receiver.h"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <optional>

#include "receivers/perf/figures.h"
#include "transport/control.h"
#include "transport/errors.h"
#include "transport/figures.h"
#include "transport/pin.h"
#include "transport/plan.h"

namespace vsb::receivers {
namespace {

using transport::ControlChannel;
using transport::Descriptor;
using transport::Failure;

struct ThreadOutcome {
    ReceiveTally tally;
    transport::Usage usage;
    perf::Counts counts;
};

class Session {
  public:
    Session(transport::Calls& calls, const ReceiverOptions& options,
            const transport::Watch::IntervalSink& interval)
        : calls_(calls),
          options_(options),
          interval_(interval),
          listener_(calls, options.endpoint, socket_options(options)),
          peer_("the sender on " + transport::format_endpoint(listener_.endpoint())) {}

    ReceiverOutcome run(const std::function<void(const transport::Endpoint&)>& listening) {
        listening(listener_.endpoint());
        try {
            agree();
            accept();
            if (plan_.warmup_bytes != 0) warm_up();
            measure();
            return finish();
        } catch (const std::exception& error) {
            if (control_) control_->fail(error.what());
            throw;
        }
    }

  private:
    static transport::SocketOptions socket_options(const ReceiverOptions& options) {
        transport::SocketOptions socket;
        socket.kind = options.kind;
        socket.vsock = options.vsock;
        return socket;
    }

    std::uint64_t deadline() { return calls_.now_ns() + options_.timeout_ns; }

    void agree() {
        if (options_.control) {
            control_.emplace(calls_, listener_.accept(deadline(), "the control connection"), peer_);
            control_cid_ = listener_.peer_cid();
            try {
                plan_ = transport::plan_of(control_->expect("PLAN", deadline()));
            } catch (const std::invalid_argument& error) {
                throw Failure("the plan of " + peer_ + ": " + error.what());
            }
            if (plan_.nonce != options_.nonce) {
                throw Failure(peer_ + " has another nonce: it belongs to another run");
            }
            if (plan_.kind != options_.kind) {
                throw Failure(peer_ + " sends " + std::string(transport::kind_name(plan_.kind)) +
                              ", this is a receiver of " +
                              std::string(transport::kind_name(options_.kind)));
            }
        } else {
            plan_.bytes = options_.expected_bytes;
            plan_.warmup_bytes = options_.warmup_bytes;
            plan_.threads = static_cast<unsigned>(options_.threads);
            plan_.seed = options_.seed;
            plan_.kind = options_.kind;
        }
        outcome_.recv_bytes = options_.recv_bytes == 0 ? plan_.write_bytes : options_.recv_bytes;
        if (plan_.kind == transport::Kind::seqpacket && plan_.write_bytes > outcome_.recv_bytes) {
            throw Failure("messages of " + std::to_string(plan_.write_bytes) +
                          " bytes do not fit into recv(" + std::to_string(outcome_.recv_bytes) +
                          ") (use --recv-size match)");
        }
        outcome_.threads = plan_.threads;
        outcome_.write_bytes = plan_.write_bytes;
        outcome_.warmup_bytes = plan_.warmup_bytes * plan_.threads;
        if (options_.verify) payload_.emplace(plan_.seed, outcome_.recv_bytes);
        threads_out_.resize(plan_.threads);
    }

    void accept() {
        if (control_) {
            transport::ControlMessage ready{"READY", {}};
            ready.fields.add("port", std::uint64_t{listener_.endpoint().port});
            control_->send(ready, deadline());
        }
        for (unsigned i = 0; i < plan_.threads; ++i) {
            sockets_.push_back(listener_.accept(deadline(), "a data connection"));
            if (control_ && listener_.peer_cid() != control_cid_) {
                throw Failure("a data connection came from CID " +
                              std::to_string(listener_.peer_cid()) + ", the control from CID " +
                              std::to_string(control_cid_));
            }
            if (!options_.rcvlowat) continue;
            const int lowat = static_cast<int>(*options_.rcvlowat);
            if (calls_.setsockopt(sockets_[i].get(), SOL_SOCKET, SO_RCVLOWAT, &lowat,
                                  sizeof lowat) < 0) {
                transport::throw_errno(errno, "setting SO_RCVLOWAT towards", peer_);
            }
        }
        if (options_.endpoint.family == transport::Family::vsock) {
            outcome_.vsock_buffer_bytes =
                transport::vsock_buffer_size(calls_, sockets_[0].get()).value_or(0);
        }
        started_ns_ = calls_.now_ns();
        if (control_) control_->send({"GO", {}}, deadline());
    }

    void phase(bool measured) {
        std::vector<transport::Progress> progress(plan_.threads);
        transport::WatchPlan watch_plan;
        watch_plan.stall_ns = options_.timeout_ns;
        watch_plan.interval_ns = measured ? options_.interval_ns : 0;
        watch_plan.peer = peer_;
        transport::Watch watch(calls_, watch_plan, progress, control_ ? &*control_ : nullptr,
                               interval_);
        transport::WorkerPlan workers;
        workers.workers = plan_.threads;
        workers.cpus = options_.cpus;
        workers.interrupt = [this] {
            for (const Descriptor& one : sockets_)
                calls_.shutdown(one.get(), SHUT_RDWR);
        };
        transport::run_workers(
            workers, progress, watch,
            [&](unsigned i, auto& own, const auto& attend) { worker(i, measured, own, attend); });
        outcome_.intervals_gbit_s = watch.intervals_gbit_s();
    }

    void worker(unsigned index, bool measured, transport::Progress& progress,
                const transport::Attend& attend) {
        ReceiveJob job;
        job.fd = sockets_[index].get();
        job.peer = peer_;
        job.mode = options_.mode;
        job.recv_bytes = outcome_.recv_bytes;
        job.messages = options_.kind == transport::Kind::seqpacket;
        job.expected = payload_ ? &*payload_ : nullptr;
        if (!measured) {
            job.stop_at = plan_.warmup_bytes;
            const auto tally = receive_loop(calls_, job, progress, attend);
            if (tally.bytes != plan_.warmup_bytes) {
                throw Failure("the warm-up brought " + std::to_string(tally.bytes) + " of " +
                              std::to_string(plan_.warmup_bytes) + " bytes from " + peer_);
            }
            return;
        }
        // The smallest of the threads' shares: connections may come in any order.
        job.planned = plan_.bytes / plan_.threads;
        job.timed = options_.timed;
        job.offset = plan_.warmup_bytes;
        ThreadOutcome& out = threads_out_[index];
        std::optional<perf::Group> group;
        if (options_.perf) group.emplace(perf::Group::of_thread(0));
        const transport::Usage before = transport::usage_of_this_thread();
        if (group) group->start();
        out.tally = receive_loop(calls_, job, progress, attend);
        if (group) out.counts = group->stop();
        out.usage = transport::usage_of_this_thread() - before;
    }

    void warm_up() {
        phase(false);
        started_ns_ = calls_.now_ns();
        if (control_) control_->send({"GO", {}}, deadline());
    }

    void measure() {
        std::optional<perf::Group> cpu;
        if (options_.perf_cpu) cpu.emplace(perf::Group::of_cpu(*options_.perf_cpu));
        if (cpu) cpu->start();
        phase(true);
        if (cpu) outcome_.cpu_counts = cpu->stop();
    }

    ReceiverOutcome finish() {
        std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
        std::uint64_t last = 0;
        std::uint64_t end = 0;
        std::vector<perf::Counts> counts;
        for (const ThreadOutcome& one : threads_out_) {
            const ReceiveTally& tally = one.tally;
            if (!tally.at_end) throw Failure("the stream of " + peer_ + " did not end");
            outcome_.bytes += tally.bytes;
            outcome_.recvs += tally.recvs;
            outcome_.wakeups += tally.wakeups;
            outcome_.in_recv_ns += tally.in_recv_ns;
            for (std::size_t k = 0; k < tally.sizes.size(); ++k)
                outcome_.sizes[k] += tally.sizes[k];
            outcome_.usage += one.usage;
            counts.push_back(one.counts);
            first = std::min(first, tally.first_ns);
            last = std::max(last, tally.last_ns);
            end = std::max(end, tally.end_ns);
        }
        if (options_.perf) outcome_.counts = perf::sum(counts);
        check_count();
        if (outcome_.bytes == 0) throw Failure(peer_ + " sent not one byte");
        if (last <= first || end <= started_ns_) {
            throw Failure("no time passed on the clock while receiving");
        }
        outcome_.first_to_last_ns = last - first;
        outcome_.whole_ns = end - started_ns_;
        if (control_) {
            transport::ControlMessage done{"DONE", {}};
            done.fields.add("bytes", outcome_.bytes);
            control_->send(done, deadline());
        }
        return outcome_;
    }

    void check_count() {
        std::uint64_t sent = plan_.bytes;
        if (control_) {
            try {
                sent = control_->expect("DONE", deadline()).fields.number("bytes");
            } catch (const std::exception& error) {
                throw Failure(std::string(error.what()) + "; " + std::to_string(outcome_.bytes) +
                              " bytes had arrived");
            }
            if (plan_.bytes != 0 && sent != plan_.bytes) {
                throw Failure(peer_ + " sent " + std::to_string(sent) + " bytes, planned were " +
                              std::to_string(plan_.bytes));
            }
        } else if (options_.expected_bytes == 0) {
            return;
        }
        if (outcome_.bytes != sent) {
            throw Failure("received " + std::to_string(outcome_.bytes) + " of " +
                          std::to_string(sent) + " bytes from " + peer_);
        }
        outcome_.checked = true;
    }

    transport::Calls& calls_;
    const ReceiverOptions& options_;
    transport::Watch::IntervalSink interval_;
    transport::Listener listener_;
    std::string peer_;
    std::optional<ControlChannel> control_;
    std::uint32_t control_cid_ = 0;
    transport::StreamPlan plan_;
    std::optional<transport::Payload> payload_;
    std::vector<Descriptor> sockets_;
    std::vector<ThreadOutcome> threads_out_;
    std::uint64_t started_ns_ = 0;
    ReceiverOutcome outcome_;
};

}  // namespace

ReceiverOutcome run_receiver(transport::Calls& calls, const ReceiverOptions& options,
                             const std::function<void(const transport::Endpoint&)>& listening,
                             const transport::Watch::IntervalSink& interval) {
    transport::check_cpus_allowed(options.cpus);
    return Session(calls, options, interval).run(listening);
}

transport::Results receiver_results(const ReceiverOptions& options,
                                    const ReceiverOutcome& outcome) {
    transport::Results results;
    results.text("tool", "vsb-receiver");
    results.text("kind", transport::kind_name(options.kind));
    results.text("mode", mode_name(options.mode));
    results.count("threads", outcome.threads);
    results.text("cpu", transport::join(options.cpus));
    results.count("recv_bytes", outcome.recv_bytes);
    if (outcome.write_bytes != 0) results.count("write_bytes", outcome.write_bytes);
    results.count("warmup_bytes", outcome.warmup_bytes);
    results.count("bytes", outcome.bytes);
    results.text("checked", outcome.checked ? "yes" : "no");
    results.text("verified", options.verify ? "yes" : "no");
    results.count("recvs", outcome.recvs);
    results.count("recvs_of_0", outcome.threads);
    if (outcome.wakeups != 0) results.count("wakeups", outcome.wakeups);
    results.text("recv_sizes", format_sizes(outcome.sizes));
    transport::add_times(results, outcome.bytes, outcome.first_to_last_ns, outcome.whole_ns);
    if (options.timed) results.count("in_recv_ns", outcome.in_recv_ns);
    transport::add_usage(results, outcome.usage);
    if (outcome.vsock_buffer_bytes != 0) {
        results.count("vsock_buffer_bytes", outcome.vsock_buffer_bytes);
    }
    transport::add_intervals(results, outcome.intervals_gbit_s);
    if (options.perf) perf::add_counts(results, "", outcome.counts, outcome.bytes);
    if (options.perf_cpu) perf::add_counts(results, "cpu_", outcome.cpu_counts, outcome.bytes);
    return results;
}

}  // namespace vsb::receivers
