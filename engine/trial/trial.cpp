#include "engine/trial/trial.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <set>
#include <system_error>

#include "engine/sync/clock.h"
#include "engine/sync/spinlock.h"

namespace vsb::engine::trial {
namespace {

using std::chrono::nanoseconds;

// How often the caller's stop is polled while roles run.
constexpr auto kPoll = std::chrono::milliseconds(2);

int pin(int cpu) noexcept {
    if (cpu < 0 || cpu >= CPU_SETSIZE) return EINVAL;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

std::size_t cpus_allowed() noexcept {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    return static_cast<std::size_t>(CPU_COUNT(&set));
}

void warn_about_cpus(const std::vector<Role>& roles, std::vector<Warning>& warnings) {
    const std::size_t cpus = cpus_allowed();
    if (roles.size() > cpus) {
        warnings.push_back({"oversubscribed", std::to_string(roles.size()) + " threads share " +
                                                  std::to_string(cpus) + " CPUs"});
    }
    std::set<int> used;
    for (const Role& role : roles) {
        if (role.cpu && !used.insert(*role.cpu).second) {
            warnings.push_back({"shared-cpu", "the " + role.name + " shares CPU " +
                                                  std::to_string(*role.cpu) +
                                                  " with another thread of the trial"});
        }
    }
}

// Keeps CPUs out of their idle states without taking time from any other thread.
class IdlePollers {
  public:
    IdlePollers(bool wanted, const std::vector<Role>& roles, std::vector<Warning>& warnings) {
        if (!wanted) return;
        std::set<int> cpus;
        for (const Role& role : roles) {
            if (role.cpu) cpus.insert(*role.cpu);
        }
        for (const int cpu : cpus)
            threads_.emplace_back([this, cpu] { poll(cpu); });
        warnings.push_back({"idle-poll", std::to_string(cpus.size()) +
                                             " CPUs were kept awake by idle-priority spinners"});
    }
    ~IdlePollers() {
        done_.store(true);
        for (auto& thread : threads_)
            thread.join();
    }
    IdlePollers(const IdlePollers&) = delete;
    IdlePollers& operator=(const IdlePollers&) = delete;

  private:
    void poll(int cpu) noexcept {
        const sched_param none{};
        // Without idle priority or its CPU a spinner would take time from the trial.
        if (pin(cpu) != 0 || sched_setscheduler(0, SCHED_IDLE, &none) != 0) return;
        while (!done_.load(std::memory_order_relaxed))
            cpu_relax();
    }

    std::atomic<bool> done_{false};
    std::vector<std::thread> threads_;
};

}  // namespace

Trial::Trial(std::uint64_t deadline_ns, std::function<bool()> stop) : stop_(std::move(stop)) {
    const std::uint64_t now = now_ns();
    deadline_ = deadline_ns > UINT64_MAX - now ? UINT64_MAX : now + deadline_ns;
}

void Trial::fail(const std::string& reason) noexcept {
    {
        const std::lock_guard hold(mutex_);
        if (failure_.empty()) failure_ = reason;
        ended_.store(true, std::memory_order_seq_cst);
    }
    changed_.notify_all();
}

std::string Trial::failure() const {
    const std::lock_guard hold(mutex_);
    return failure_;
}

void Trial::play(const Role& role) noexcept {
    const pid_t self = gettid();
    try {
        if (role.cpu) {
            if (const int error = pin(*role.cpu); error != 0) {
                throw std::system_error(
                    error, std::generic_category(),
                    "pinning the " + role.name + " to CPU " + std::to_string(*role.cpu));
            }
        }
        if (role.starts) role.starts(self);
    } catch (const std::exception& error) {
        fail(error.what());
    }
    {
        std::unique_lock hold(mutex_);
        ++arrived_;
        changed_.notify_all();
        changed_.wait(hold, [this] { return open_; });
    }
    try {
        if (!ended()) role.body(*role.task);
        if (role.ends) role.ends(self);
    } catch (const std::exception& error) {
        fail("the " + role.name + ": " + error.what());
    }
    {
        const std::lock_guard hold(mutex_);
        ++left_;
    }
    changed_.notify_all();
}

// mutex_ held.
void Trial::end_early() {
    ended_.store(true, std::memory_order_seq_cst);
    for (std::size_t i = 0; i < roles_.size(); ++i)
        tasks_[i].interrupt();
}

void Trial::watch(std::unique_lock<std::mutex>& hold) {
    bool over = false;
    while (left_ < arrived_) {
        changed_.wait_for(hold, kPoll, [&] { return left_ == arrived_ || (ended() && !over); });
        if (left_ == arrived_ || over) continue;
        if (failure_.empty() && now_ns() >= deadline_) {
            failure_ = "deadline: the trial had not ended in time";
        }
        if (failure_.empty() && stop_) {
            hold.unlock();
            bool stop = true;
            std::string reason = "interrupted";
            try {
                stop = stop_();
            } catch (const std::exception& error) {
                reason = error.what();
            }
            hold.lock();
            if (stop && failure_.empty()) failure_ = reason;
        }
        if (!failure_.empty()) {
            over = true;
            end_early();
        }
    }
}

void Trial::run(bool idle_poll, std::vector<Warning>& warnings) {
    warn_about_cpus(roles_, warnings);
    const IdlePollers pollers(idle_poll, roles_, warnings);
    tasks_ = std::make_unique<Task[]>(roles_.size());
    for (std::size_t i = 0; i < roles_.size(); ++i) {
        if (roles_[i].task == nullptr) roles_[i].task = &tasks_[i];
    }
    std::vector<std::thread> threads;
    threads.reserve(roles_.size());
    try {
        for (const Role& role : roles_) threads.emplace_back([this, &role] { play(role); });
    } catch (const std::system_error& error) {
        fail(std::string("starting a thread: ") + error.what());
    }
    {
        std::unique_lock hold(mutex_);
        changed_.wait(hold, [&] { return arrived_ == threads.size(); });
        open_ = true;
        changed_.notify_all();
        watch(hold);
    }
    for (auto& thread : threads)
        thread.join();
}

}  // namespace vsb::engine::trial
