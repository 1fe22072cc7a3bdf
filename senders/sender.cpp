#include "senders/sender.h"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <memory>
#include <optional>

#include "receivers/perf/figures.h"
#include "transport/control.h"
#include "transport/errors.h"
#include "transport/figures.h"
#include "transport/pin.h"
#include "transport/plan.h"
#include "transport/survive.h"

namespace vsb::senders {
namespace {

using transport::ControlChannel;
using transport::Descriptor;
using transport::Failure;

constexpr std::uint64_t kNoGoal = std::numeric_limits<std::uint64_t>::max();

struct ThreadOutcome {
    SendTally tally;
    transport::Usage usage;
    perf::Counts counts;
};

class Session {
  public:
    Session(transport::Calls& calls, const SenderOptions& options,
            const transport::Watch::IntervalSink& interval)
        : calls_(calls),
          options_(options),
          interval_(interval),
          threads_(static_cast<unsigned>(options.threads)),
          peer_("the receiver at " + transport::format_endpoint(options.endpoint)),
          payload_(options.seed, options.write_bytes),
          threads_out_(threads_) {}

    SenderOutcome run() {
        try {
            connect();
            if (options_.warmup_bytes != 0) warm_up();
            measure();
            return finish();
        } catch (const std::exception& error) {
            if (control_) control_->fail(error.what());
            throw;
        }
    }

  private:
    std::uint64_t deadline() { return calls_.now_ns() + options_.timeout_ns; }

    void connect() {
        transport::SocketOptions socket;
        socket.kind = options_.kind;
        socket.vsock = options_.vsock;
        socket.max_message = options_.write_bytes;
        const std::uint64_t connected_by = calls_.now_ns() + options_.connect_timeout_ns;
        const auto connect_one = [&] {
            return transport::connect_to(calls_, options_.endpoint, socket, connected_by);
        };
        if (options_.control) {
            control_.emplace(calls_, connect_one(), peer_);
            transport::StreamPlan plan;
            plan.bytes = options_.bytes;
            plan.warmup_bytes = options_.warmup_bytes;
            plan.write_bytes = options_.write_bytes;
            plan.seed = options_.seed;
            plan.threads = threads_;
            plan.kind = options_.kind;
            plan.nonce = options_.nonce;
            control_->send(transport::plan_message(plan), deadline());
            control_->expect("READY", deadline());
        }
        for (unsigned i = 0; i < threads_; ++i) {
            sockets_.push_back(connect_one());
            if (options_.zerocopy) {
                zerocopy_.push_back(
                    std::make_unique<Zerocopy>(calls_, sockets_.back().get(), peer_));
            }
        }
        if (control_) control_->expect("GO", deadline());
        if (options_.endpoint.family == transport::Family::vsock) {
            outcome_.vsock_buffer_bytes =
                transport::vsock_buffer_size(calls_, sockets_[0].get()).value_or(0);
        }
    }

    void phase(const transport::WatchPlan& watch_plan, bool measured) {
        std::vector<transport::Progress> progress(threads_);
        transport::Watch watch(calls_, watch_plan, progress, control_ ? &*control_ : nullptr,
                               measured ? interval_ : transport::Watch::IntervalSink{});
        transport::WorkerPlan workers;
        workers.workers = threads_;
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
        SendJob job;
        job.fd = sockets_[index].get();
        job.peer = peer_;
        job.write_bytes = options_.write_bytes;
        job.zerocopy = options_.zerocopy ? zerocopy_[index].get() : nullptr;
        if (!measured) {
            job.goal_bytes = options_.warmup_bytes;
            warmup_sends_.at(index) = send_loop(calls_, payload_, job, progress, attend).sends;
            return;
        }
        job.goal_bytes =
            options_.bytes == 0 ? kNoGoal : transport::share_of(options_.bytes, threads_, index);
        job.offset = options_.warmup_bytes;
        job.timed = options_.timed;
        ThreadOutcome& out = threads_out_[index];
        std::optional<perf::Group> group;
        if (options_.perf) group.emplace(perf::Group::of_thread(0));
        const transport::Usage before = transport::usage_of_this_thread();
        if (group) group->start();
        out.tally = send_loop(calls_, payload_, job, progress, attend);
        if (group) out.counts = group->stop();
        out.usage = transport::usage_of_this_thread() - before;
    }

    void warm_up() {
        phase({options_.timeout_ns, 0, 0, peer_}, false);
        for (unsigned i = 0; i < zerocopy_.size(); ++i) {
            zerocopy_[i]->await(warmup_sends_[i], deadline());
            outcome_.zerocopy_completions -= zerocopy_[i]->completed();
            outcome_.zerocopy_copied -= zerocopy_[i]->copied();
        }
        if (control_) control_->expect("GO", deadline());
    }

    void measure() {
        std::optional<perf::Group> cpu;
        if (options_.perf_cpu) cpu.emplace(perf::Group::of_cpu(*options_.perf_cpu));
        if (cpu) cpu->start();
        started_ns_ = calls_.now_ns();
        phase({options_.timeout_ns, options_.duration_ns, options_.interval_ns, peer_}, true);
        if (cpu) outcome_.cpu_counts = cpu->stop();
    }

    SenderOutcome finish() {
        std::uint64_t first = kNoGoal;
        std::uint64_t last = 0;
        std::vector<perf::Counts> counts;
        for (unsigned i = 0; i < threads_; ++i) {
            const ThreadOutcome& one = threads_out_[i];
            outcome_.bytes += one.tally.bytes;
            outcome_.sends += one.tally.sends;
            outcome_.short_sends += one.tally.short_sends;
            outcome_.in_send_ns += one.tally.in_send_ns;
            outcome_.usage += one.usage;
            counts.push_back(one.counts);
            first = std::min(first, one.tally.first_ns);
            last = std::max(last, one.tally.last_ns);
            if (options_.zerocopy) {
                Zerocopy& zerocopy = *zerocopy_[i];
                zerocopy.await(one.tally.sends + warmup_sends_[i], deadline());
                outcome_.zerocopy_completions += zerocopy.completed();
                outcome_.zerocopy_copied += zerocopy.copied();
            }
            if (calls_.shutdown(sockets_[i].get(), SHUT_WR) < 0) {
                transport::throw_errno(errno, "ending the stream to", peer_);
            }
        }
        outcome_.loop_ns = calls_.now_ns() - started_ns_;
        if (outcome_.bytes == 0) throw Failure("not one byte was sent to " + peer_);
        if (options_.bytes != 0 && outcome_.bytes != options_.bytes) {
            throw Failure("sent " + std::to_string(outcome_.bytes) + " of " +
                          std::to_string(options_.bytes) + " bytes to " + peer_);
        }
        if (last <= first) throw Failure("no time passed on the clock while sending");
        outcome_.first_to_last_ns = last - first;
        if (options_.perf) outcome_.counts = perf::sum(counts);
        if (control_) {
            settle();
        } else {
            for (const Descriptor& one : sockets_)
                await_close(one.get());
        }
        outcome_.whole_ns = calls_.now_ns() - started_ns_;
        return outcome_;
    }

    void settle() {
        transport::ControlMessage done{"DONE", {}};
        done.fields.add("bytes", outcome_.bytes);
        done.fields.add("sends", outcome_.sends);
        control_->send(done, deadline());
        const auto reply = control_->expect("DONE", deadline());
        const std::uint64_t received = reply.fields.number("bytes");
        if (received != outcome_.bytes) {
            throw Failure(peer_ + " received " + std::to_string(received) + " of " +
                          std::to_string(outcome_.bytes) + " bytes");
        }
        outcome_.checked = true;
    }

    // Without a control channel: a receiver that leaves with data unread resets the connection.
    void await_close(int fd) {
        const std::uint64_t until = deadline();
        char byte = 0;
        for (;;) {
            const ssize_t n = calls_.recv(fd, &byte, 1, MSG_DONTWAIT);
            if (n == 0) return;
            if (n > 0) throw Failure(peer_ + " sent data back");
            if (errno == ECONNRESET) {
                throw Failure(peer_ + " left before it had read everything (connection reset)");
            }
            transport::survive(calls_, fd, errno, POLLIN, "waiting for the end of", peer_);
            if (calls_.now_ns() >= until) throw Failure(peer_ + " did not close in time");
        }
    }

    transport::Calls& calls_;
    const SenderOptions& options_;
    transport::Watch::IntervalSink interval_;
    unsigned threads_;
    std::string peer_;
    transport::Payload payload_;
    std::vector<ThreadOutcome> threads_out_;
    std::vector<std::uint64_t> warmup_sends_ = std::vector<std::uint64_t>(threads_, 0);
    std::vector<Descriptor> sockets_;
    std::vector<std::unique_ptr<Zerocopy>> zerocopy_;
    std::optional<ControlChannel> control_;
    std::uint64_t started_ns_ = 0;
    SenderOutcome outcome_;
};

}  // namespace

SenderOutcome run_sender(transport::Calls& calls, const SenderOptions& options,
                         const transport::Watch::IntervalSink& interval) {
    transport::check_cpus_allowed(options.cpus);
    return Session(calls, options, interval).run();
}

transport::Results sender_results(const SenderOptions& options, const SenderOutcome& outcome) {
    transport::Results results;
    results.text("tool", "vsb-sender");
    results.text("endpoint", transport::format_endpoint(options.endpoint));
    results.text("kind", transport::kind_name(options.kind));
    results.count("threads", options.threads);
    results.text("cpu", transport::join(options.cpus));
    results.count("write_bytes", options.write_bytes);
    results.count("warmup_bytes", options.warmup_bytes * options.threads);
    results.count("bytes", outcome.bytes);
    results.text("checked", outcome.checked ? "yes" : "no");
    results.count("sends", outcome.sends);
    results.count("short_sends", outcome.short_sends);
    transport::add_times(results, outcome.bytes, outcome.first_to_last_ns, outcome.whole_ns);
    if (options.timed) results.count("in_send_ns", outcome.in_send_ns);
    transport::add_usage(results, outcome.usage);
    if (options.zerocopy) {
        results.count("zerocopy_completions", outcome.zerocopy_completions);
        results.count("zerocopy_copied", outcome.zerocopy_copied);
    }
    if (outcome.vsock_buffer_bytes != 0) {
        results.count("vsock_buffer_bytes", outcome.vsock_buffer_bytes);
    }
    transport::add_intervals(results, outcome.intervals_gbit_s);
    if (options.perf) perf::add_counts(results, "", outcome.counts, outcome.bytes);
    if (options.perf_cpu) perf::add_counts(results, "cpu_", outcome.cpu_counts, outcome.bytes);
    return results;
}

}  // namespace vsb::senders
