#include "transport/workers.h"

#include <poll.h>

#include <atomic>
#include <csignal>
#include <exception>
#include <mutex>
#include <thread>

#include "transport/errors.h"
#include "transport/pin.h"
#include "transport/ticker.h"

namespace vsb::transport {
namespace {

constexpr int kPeriodMs = 50;

// A tick cuts a blocking send() short now and then: no more of them than the watch needs.
std::uint64_t tick_ns(const Watch& watch) {
    return watch.keeps_time() ? kPeriodMs * 1000000u : 250000000u;
}

void run_pinned(const WorkerPlan& plan, unsigned index, const std::function<void()>& body) {
    if (plan.cpus.empty()) return body();
    const int cpu = plan.cpus[index % plan.cpus.size()];
    pin_this_thread(cpu);
    body();
    check_pinned(cpu);
}

void run_one(const WorkerPlan& plan, Progress& progress, Watch& watch, const WorkerBody& body) {
    const Attend attend(progress, &watch);
    run_pinned(plan, 0, [&] {
        const Ticker ticker(progress, tick_ns(watch));
        body(0, progress, attend);
    });
}

void stop_all(const WorkerPlan& plan, std::span<Progress> progress) {
    for (Progress& one : progress)
        one.attention = Attention::stop;
    if (plan.interrupt) plan.interrupt();
}

void run_many(const WorkerPlan& plan, std::span<Progress> progress, Watch& watch,
              const WorkerBody& body) {
    std::mutex mutex;
    std::exception_ptr first;
    std::atomic<unsigned> ended{0};
    std::vector<std::thread> threads;
    threads.reserve(plan.workers);
    for (unsigned i = 0; i < plan.workers; ++i) {
        threads.emplace_back([&, i] {
            try {
                const Attend attend(progress[i], nullptr);
                run_pinned(plan, i, [&] { body(i, progress[i], attend); });
            } catch (...) {
                const std::lock_guard lock(mutex);
                if (!first) first = std::current_exception();
            }
            ++ended;
        });
    }
    bool stopped = false;
    while (ended < plan.workers) {
        ::poll(nullptr, 0, kPeriodMs);
        bool broken = false;
        {
            const std::lock_guard lock(mutex);
            broken = first != nullptr;
        }
        if (stopped || (!broken && watch.look())) continue;
        stopped = true;
        // The end of a timed run lets the loops finish the call they are in.
        if (broken || watch.failure()) {
            stop_all(plan, progress);
        } else {
            for (Progress& one : progress)
                one.attention = Attention::stop;
            stopped = false;
        }
    }
    for (std::thread& thread : threads)
        thread.join();
    if (first) std::rethrow_exception(first);
}

}  // namespace

bool Attend::operator()() const {
    if (progress_.attention.load(std::memory_order_relaxed) == Attention::stop) return false;
    progress_.attention.store(Attention::none, std::memory_order_relaxed);
    return watch_ == nullptr || watch_->look();
}

void run_workers(const WorkerPlan& plan, std::span<Progress> progress, Watch& watch,
                 const WorkerBody& body) {
    watch.start();
    try {
        if (plan.workers == 1) {
            run_one(plan, progress[0], watch, body);
        } else {
            run_many(plan, progress, watch, body);
        }
    } catch (const std::exception& error) {
        if (!watch.failure()) throw;
        throw Failure(*watch.failure() + " (" + error.what() + ")");
    }
    if (watch.failure()) throw Failure(*watch.failure());
}

}  // namespace vsb::transport
