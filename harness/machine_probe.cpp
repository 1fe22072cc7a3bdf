// The measuring half of machine_state.h: two threads, a futex, and one cache line.
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <ctime>
#include <thread>
#include <vector>

#include "harness/cpus.h"
#include "harness/machine_state.h"

namespace vsb::harness {
namespace {

constexpr int kWakes = 200;
constexpr std::int64_t kAsleepNs = 20'000;
constexpr std::int64_t kProbeNs = 20'000'000;  // longest a probe may take, loaded machine or not
constexpr int kTripsOfABatch = 50;
constexpr int kBatches = 40;

std::int64_t now_ns(clockid_t clock = CLOCK_MONOTONIC) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

std::optional<double> median(std::vector<double> values) {
    if (values.empty()) return std::nullopt;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* timeout = nullptr) {
    return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, timeout,
                   nullptr, 0);
}

struct Wakes {
    std::vector<double> cost_ns;
    std::vector<double> latency_ns;
};

// The waker lets the sleeper sleep for about 20 us: a CPU just idle wakes faster than one long
// idle, and this is the time an RX path's reader sleeps.
Wakes probe_wakes(int waker_cpu, int sleeper_cpu) {
    alignas(64) std::atomic<std::uint32_t> word{0};
    alignas(64) std::atomic<std::uint32_t> about_to_sleep{0};
    alignas(64) std::atomic<std::int64_t> woke_at_ns{0};
    std::atomic<bool> pinned{true};
    std::atomic<bool> over{false};

    std::thread sleeper([&] {
        if (!pin_this_thread(sleeper_cpu)) pinned = false;
        for (std::uint32_t round = 0; !over; ++round) {
            about_to_sleep = round + 1;
            // The timeout only guards against a waker that gave up.
            const timespec second{1, 0};
            while (word == round && !over)
                futex(word, FUTEX_WAIT_PRIVATE, round, &second);
            woke_at_ns = now_ns();
        }
    });
    Wakes wakes;
    std::thread waker([&] {
        if (!pin_this_thread(waker_cpu)) pinned = false;
        const std::int64_t give_up_ns = now_ns() + kProbeNs;
        for (std::uint32_t round = 0; round < kWakes && now_ns() < give_up_ns; ++round) {
            while (about_to_sleep != round + 1)
                sched_yield();
            const std::int64_t asleep_until_ns = now_ns() + kAsleepNs;
            while (now_ns() < asleep_until_ns) {
            }
            woke_at_ns = 0;
            const std::int64_t start_ns = now_ns();
            word = round + 1;
            const long woken = futex(word, FUTEX_WAKE_PRIVATE, 1);
            const std::int64_t end_ns = now_ns();
            std::int64_t woke_ns = 0;
            while ((woke_ns = woke_at_ns) == 0)
                sched_yield();
            if (woken != 1) continue;  // it was not asleep yet: no wake was measured
            wakes.cost_ns.push_back(static_cast<double>(end_ns - start_ns));
            wakes.latency_ns.push_back(static_cast<double>(woke_ns - start_ns));
        }
        over = true;
        futex(word, FUTEX_WAKE_PRIVATE, 1);
    });
    waker.join();
    sleeper.join();
    if (!pinned) return {};
    return wakes;
}

std::optional<double> probe_syscall() {
    std::vector<double> costs;
    for (int batch = 0; batch < kBatches; ++batch) {
        const std::int64_t start_ns = now_ns();
        for (int call = 0; call < kTripsOfABatch; ++call)
            syscall(SYS_getppid);
        costs.push_back(static_cast<double>(now_ns() - start_ns) / kTripsOfABatch);
    }
    return median(std::move(costs));
}

struct TwoThreads {
    std::optional<double> round_trip_ns;
    std::optional<double> load_of_others;
};

// Both threads spin on one line for the whole probe, so the same time tells how much of it
// something else took from them: wall time against each thread's own CPU time.
TwoThreads probe_cache_line(int cpu_a, int cpu_b) {
    alignas(64) std::atomic<std::uint32_t> line{0};
    std::atomic<int> ready{0};
    std::atomic<bool> over{false};
    std::atomic<bool> pinned{true};
    std::array<double, 2> own_share{0, 0};
    std::vector<double> trips;

    const auto spin = [&](int cpu, bool leads) {
        if (!pin_this_thread(cpu)) pinned = false;
        ++ready;
        while (ready < 2)
            sched_yield();
        const std::int64_t wall_ns = now_ns();
        const std::int64_t cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
        if (leads) {
            while (now_ns() - wall_ns < kProbeNs) {
                const std::int64_t start_ns = now_ns();
                int done = 0;
                for (; done < kTripsOfABatch; ++done) {
                    const std::uint32_t mine = line.load() + 1;
                    line = mine;
                    while (line == mine) {
                    }
                }
                trips.push_back(static_cast<double>(now_ns() - start_ns) / kTripsOfABatch);
            }
            over = true;
        } else {
            // Odd: the leader's turn is over. Checked for the end only when there is no turn.
            while (true) {
                const std::uint32_t seen = line;
                if (seen % 2 == 1) {
                    line = seen + 1;
                } else if (over) {
                    break;
                }
            }
        }
        const auto own = static_cast<double>(now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns);
        own_share[leads ? 0 : 1] = own / static_cast<double>(now_ns() - wall_ns);
    };
    std::thread follower(spin, cpu_b, false);
    std::thread leader(spin, cpu_a, true);
    leader.join();
    follower.join();
    if (!pinned) return {};
    TwoThreads result;
    result.round_trip_ns = median(std::move(trips));
    result.load_of_others = std::clamp(1 - (own_share[0] + own_share[1]) / 2, 0.0, 1.0);
    return result;
}

}  // namespace

MachineState measure_machine_state(int waker_cpu, int sleeper_cpu) {
    MachineState state;
    state.syscall_cost_ns = probe_syscall();
    if (waker_cpu == sleeper_cpu) return state;
    Wakes wakes = probe_wakes(waker_cpu, sleeper_cpu);
    state.wake_cost_ns = median(std::move(wakes.cost_ns));
    state.wake_latency_ns = median(std::move(wakes.latency_ns));
    const TwoThreads spun = probe_cache_line(waker_cpu, sleeper_cpu);
    state.cache_line_round_trip_ns = spun.round_trip_ns;
    state.load_of_others = spun.load_of_others;
    return state;
}

}  // namespace vsb::harness
