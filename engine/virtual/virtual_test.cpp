// The virtual clock: one run, one result; time is a sum of costs; no wake is lost in any order that
// seeds can bring about.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <map>
#include <random>
#include <span>
#include <stdexcept>
#include <thread>

#include "engine/headline.h"
#include "engine/run.h"
#include "engine/sync/clock.h"
#include "engine/sync/doorbell.h"
#include "engine/virtual/schedule.h"

namespace vsb::engine {
namespace {

constexpr std::uint64_t kLong = 60'000'000'000;
using Parameters = std::vector<std::pair<std::string, std::uint64_t>>;

Workload writes_of(std::uint64_t payload, std::uint64_t writes, std::uint64_t recv = 65536) {
    Workload workload;
    workload.payload_bytes = payload;
    workload.writes = writes;
    workload.recv_bytes = recv;
    return workload;
}

// Receiver, worker and device on CPUs of their own as far as there are any.
Placement placement_on(unsigned cpus) {
    Placement placement;
    placement.worker_cpu = cpus > 1 ? 1 : 0;
    if (cpus > 2) placement.device_cpu = 2;
    return placement;
}

VirtualMachine machine_of(unsigned cpus, std::uint64_t seed = 1) {
    VirtualMachine machine;
    machine.cpus = cpus;
    machine.seed = seed;
    return machine;
}

Outcome run_on(const VirtualMachine& machine, State state, const Workload& workload,
               std::uint64_t deadline_ns = kLong, const std::function<bool()>& stop = {}) {
    state.virtual_machine = machine;
    return run(state, workload, placement_on(machine.cpus), deadline_ns, {}, stop);
}

std::map<std::string, std::uint64_t> counts_of(const Outcome& outcome) {
    std::map<std::string, std::uint64_t> counts;
    for (const Count& count : outcome.counts)
        counts[count.name] = count.value;
    return counts;
}

// Everything an outcome holds, as text.
std::string all_of(const Outcome& o) {
    std::string text = o.failure + "|" + std::to_string(o.bytes_sent) + "|" +
                       std::to_string(o.bytes_received) + "|" + std::to_string(o.units) + "|" +
                       std::to_string(o.first_to_last_ns) + "|" + std::to_string(o.whole_ns) + "|" +
                       std::to_string(o.device_ns) + "|" + std::to_string(o.clock_cost_ns);
    for (const Count& count : o.counts)
        text += "|" + count.name + "=" + std::to_string(count.value);
    for (const std::uint64_t n : o.batch_sizes)
        text += "," + std::to_string(n);
    for (const std::uint64_t ns : o.rtt_ns)
        text += ";" + std::to_string(ns);
    for (const Warning& warning : o.warnings)
        text += "|" + warning.code + ":" + warning.text;
    return text;
}

std::vector<State> all_states() {
    std::vector<State> states;
    for (const SystemInfo& system : systems())
        for (const PolicyInfo& policy : system.policies)
            states.push_back({system.name, policy.name, {}});
    return states;
}

TEST(VirtualClock, OneSeedGivesOneResultToTheLastDigitAlsoUnderLoad) {
    std::vector<std::string> quiet;
    for (const State& state : all_states()) {
        const Outcome o = run_on(machine_of(5), state, writes_of(300, 600));
        ASSERT_EQ(o.failure, "") << state.system << " " << state.policy;
        EXPECT_EQ(o.bytes_received, 600U * 300);
        EXPECT_GT(o.first_to_last_ns, 0U);
        EXPECT_EQ(o.warnings.back().code, "model");
        quiet.push_back(all_of(o));
    }
    std::atomic<bool> over{false};
    std::vector<std::jthread> load;
    for (int i = 0; i < 2; ++i)
        load.emplace_back([&] {
            while (!over) {
            }
        });
    std::size_t at = 0;
    for (const State& state : all_states())
        EXPECT_EQ(all_of(run_on(machine_of(5), state, writes_of(300, 600))), quiet[at++]);
    over = true;
}

TEST(VirtualClock, RoundTripsAreDrawnFromTheSeed) {
    Workload rtt = writes_of(64, 200, 64);
    rtt.kind = Kind::rtt;
    rtt.warmup_requests = 20;
    const State state{"virtio-vsock-rx", "deferred-notify", {}};
    const Outcome one = run_on(machine_of(3, 1), state, rtt);
    const Outcome again = run_on(machine_of(3, 1), state, rtt);
    const Outcome other = run_on(machine_of(3, 2), state, rtt);
    ASSERT_EQ(one.failure, "");
    ASSERT_EQ(one.rtt_ns.size(), 200U);
    EXPECT_EQ(one.rtt_ns, again.rtt_ns);
    EXPECT_NE(one.rtt_ns, other.rtt_ns);
    EXPECT_EQ(one.clock_cost_ns, 0U);
}

TEST(VirtualClock, WithoutJitterTheSeedChangesNothing) {
    VirtualMachine one = machine_of(3, 1);
    VirtualMachine other = machine_of(3, 99);
    one.jitter = other.jitter = 0;
    const State state{"virtio-vsock-rx", "per-packet", {}};
    EXPECT_EQ(all_of(run_on(one, state, writes_of(64, 2000))),
              all_of(run_on(other, state, writes_of(64, 2000))));
}

TEST(VirtualClock, NothingCostsNothing) {
    for (const State& state : all_states()) {
        VirtualMachine machine = machine_of(4);
        machine.costs = Costs{};
        const Outcome o = run_on(machine, state, writes_of(5000, 300));
        ASSERT_EQ(o.failure, "") << state.system << " " << state.policy;
        EXPECT_EQ(o.bytes_received, 300U * 5000);
        EXPECT_EQ(o.first_to_last_ns, 0U);
        EXPECT_EQ(o.whole_ns, 0U);
    }
}

// On one CPU nothing overlaps: from the first recv() to the end of the stream the clock shows the
// price times the count, for each cost by itself, and the sum for all of them.
TEST(VirtualClock, TimeIsTheSumOfTheCosts) {
    // Credit for all of it: a full queue would be collapsed, which copies.
    const State state{"virtio-vsock-rx", "per-packet", {{"buf-alloc", 4 << 20}}};
    const auto cost_of = [&](const Costs& costs) {
        VirtualMachine machine = machine_of(1);
        machine.jitter = 0;
        machine.costs = costs;
        return run_on(machine, state, writes_of(200, 3000));
    };
    Costs costs;
    costs[Cost::lookup] = 7;
    Outcome o = cost_of(costs);
    auto counts = counts_of(o);
    ASSERT_EQ(o.failure, "");
    EXPECT_EQ(o.whole_ns, 7 * (counts["connected_lookups"] + counts["bound_lookups"]));

    costs = Costs{};
    costs[Cost::notification] = 11;
    o = cost_of(costs);
    counts = counts_of(o);
    EXPECT_EQ(o.whole_ns,
              11 * (counts["data_ready_notifications"] + counts["write_space_notifications"] +
                    counts["state_change_notifications"]));

    costs = Costs{};
    costs[Cost::system_call] = 13;
    o = cost_of(costs);
    EXPECT_EQ(o.whole_ns, 13 * (counts_of(o)["recv_calls"] + 3000));

    costs = Costs{};
    costs[Cost::copy_byte] = 1;  // into the ring, and out of the socket
    o = cost_of(costs);
    EXPECT_EQ(o.whole_ns, 2U * 200 * 3000);

    costs[Cost::system_call] = 13;
    o = cost_of(costs);
    EXPECT_EQ(o.whole_ns, 13 * (counts_of(o)["recv_calls"] + 3000) + 2U * 200 * 3000);
}

// The waker pays once a wake that it makes; the woken thread runs that much later.
TEST(VirtualClock, AWakeCostsTheWakerAndTakesItsTime) {
    VirtualMachine machine;
    machine.cpus = 2;
    machine.jitter = 0;
    machine.costs = Costs{};
    machine.costs[Cost::wake] = 1000;
    machine.costs[Cost::wake_latency] = 5000;
    Schedule schedule(machine);
    const UnderSchedule under(schedule);
    Doorbell bell;
    Task sleeper;
    Task waker;
    std::uint64_t rung_at = 0;
    std::uint64_t ran_on_at = 0;
    std::uint64_t woken_at = 0;
    const auto result = Crew::run({{"sleeper", 0, &sleeper,
                                    [&] {
                                        EXPECT_TRUE(bell.wait(sleeper));
                                        woken_at = now_ns();
                                    }},
                                   {"waker", 1, &waker,
                                    [&] {
                                        charge(200);
                                        rung_at = now_ns();
                                        EXPECT_EQ(bell.ring().system_calls, 1U);
                                        ran_on_at = now_ns();
                                    }}},
                                  real_now_ns() + kLong, {});
    EXPECT_EQ(result.failure, "");
    EXPECT_EQ(ran_on_at - rung_at, 1000U);
    EXPECT_EQ(woken_at - rung_at, 5000U);
}

TEST(VirtualClock, ThreadsOfOneCpuTakeTurnsAndThoseOfTwoDoNot) {
    for (const int second : {0, 1}) {
        VirtualMachine machine;
        machine.cpus = 2;
        machine.costs = Costs{};
        Schedule schedule(machine);
        const UnderSchedule under(schedule);
        const std::uint64_t began = now_ns();
        const auto work = [] {
            for (int i = 0; i < 100; ++i)
                charge(100'000);  // 10 ms: several time slices
        };
        std::uint64_t first_over = 0;
        std::uint64_t second_over = 0;
        const auto result = Crew::run({{"one", 0, nullptr,
                                        [&] {
                                            work();
                                            first_over = now_ns() - began;
                                        }},
                                       {"two", second, nullptr,
                                        [&] {
                                            work();
                                            second_over = now_ns() - began;
                                        }}},
                                      real_now_ns() + kLong, {});
        EXPECT_EQ(result.failure, "");
        EXPECT_EQ(second_over, second == 0 ? 20'000'000U : 10'000'000U);
        EXPECT_EQ(first_over > 10'000'000U, second == 0);
    }
}

// What explores orders: everything costs about the same, give or take all of it.
VirtualMachine explorer(std::uint64_t seed) {
    VirtualMachine machine;
    machine.cpus = 3;
    machine.seed = seed;
    machine.jitter = 1;
    machine.costs.ns.fill(100);
    machine.costs[Cost::copy_byte] = 0.05;
    return machine;
}

// A wait that looks, and only then says that it sleeps: what comes between is lost. The right order
// of the two is WaitQueue's contract. True if every turn was taken.
bool play_turns(std::uint64_t seed, bool looks_before_it_announces, std::string& failure) {
    Schedule schedule(explorer(seed));
    const UnderSchedule under(schedule);
    WaitQueue queue;
    std::atomic<int> turn{0};
    constexpr int kTurns = 40;
    std::vector<Task> tasks(2);
    const auto play = [&](int mine) {
        Task& task = tasks[static_cast<std::size_t>(mine)];
        while (turn < kTurns && !task.interrupted()) {
            WaitEntry entry;
            while (turn < kTurns && !task.interrupted()) {
                if (looks_before_it_announces) {
                    if (turn % 2 == mine) break;
                    spend(Cost::spin);
                    queue.prepare_to_wait(entry, task);
                } else {
                    queue.prepare_to_wait(entry, task);
                    spend(Cost::spin);
                    if (turn % 2 == mine || turn >= kTurns) break;
                }
                task.schedule();
            }
            if (entry.task != nullptr) queue.finish_wait(entry);
            spend(Cost::spin);
            if (turn % 2 == mine && turn < kTurns) ++turn;
            if (queue.has_sleeper()) queue.wake_up();
        }
        queue.wake_up();
    };
    const auto result = Crew::run(
        {{"even", 0, tasks.data(), [&] { play(0); }}, {"odd", 1, &tasks[1], [&] { play(1); }}},
        real_now_ns() + kLong, {});
    failure = result.failure;
    return turn >= kTurns;
}

TEST(VirtualClock, SeedsFindTheWakeThatAWrongWaitLoses) {
    int lost = 0;
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        std::string failure;
        EXPECT_TRUE(play_turns(seed, false, failure)) << seed;
        EXPECT_EQ(failure, "") << seed;
        if (play_turns(seed, true, failure)) continue;
        ++lost;
        EXPECT_NE(failure.find("a wake was lost"), std::string::npos) << failure;
        EXPECT_NE(failure.find("odd"), std::string::npos) << failure;
    }
    EXPECT_GT(lost, 10);
}

// Mixes of sizes, marks, credit and rings, in an order that the seed decides: every policy delivers
// what per-packet delivers (each recv() is compared with the stream), and nobody is left asleep.
void expect_no_wake_lost(std::uint64_t first_seed, std::uint64_t last_seed) {
    std::mt19937_64 random(20240607 + first_seed);
    const auto pick = [&](std::initializer_list<std::uint64_t> of) {
        return of.begin()[random() % of.size()];
    };
    for (std::uint64_t seed = first_seed; seed <= last_seed; ++seed) {
        const std::uint64_t buf_alloc = pick({300, 5000, 65536, 262144});
        const std::uint64_t rcvlowat = std::min(buf_alloc, pick({1, 1, 2, 100, 300}));
        const Parameters mix{
            {"buf-alloc", buf_alloc},          {"rcvlowat", rcvlowat},
            {"ring-size", pick({2, 8, 128})},  {"event-idx", pick({0, 1})},
            {"max-pkts", pick({1, 2, 7, 64})}, {"max-bytes", pick({100, 4096, 65536})}};
        const Workload workload = writes_of(pick({1, 64, 128, 129, 1000, 4096, 20000}), 24,
                                            std::max(rcvlowat, pick({1, 64, 4096, 65536})));
        Placement placement;
        placement.receiver_cpu = 0;
        placement.worker_cpu = static_cast<int>(pick({0, 1, 1}));
        if (pick({0, 1, 1}) == 1) placement.device_cpu = 2;
        for (const PolicyInfo& policy : find_system("virtio-vsock-rx").policies) {
            const State state{"virtio-vsock-rx", policy.name, mix, explorer(seed)};
            const Outcome o = run(state, workload, placement, kLong);
            ASSERT_EQ(o.failure, "") << policy.name << ", seed " << seed << ", payload "
                                     << workload.payload_bytes << ", buf-alloc " << buf_alloc;
            EXPECT_EQ(o.bytes_received, workload.writes * workload.payload_bytes);
        }
    }
}

TEST(VirtualClock, NoWakeIsLost) {
    expect_no_wake_lost(1, 6);
}

TEST(VirtualClockSlow, NoWakeIsLostUnderAnySeed) {
    expect_no_wake_lost(7, 400);
}

TEST(VirtualClock, RefusesAMachineThatCannotBe) {
    const auto refused = [](auto change) {
        VirtualMachine machine = machine_of(3);
        change(machine);
        EXPECT_THROW(validate({"virtio-vsock-rx", "per-packet", {}, machine}),
                     std::invalid_argument);
    };
    refused([](VirtualMachine& m) { m.cpus = 0; });
    refused([](VirtualMachine& m) { m.cpus = 65; });
    refused([](VirtualMachine& m) { m.jitter = 1.5; });
    refused([](VirtualMachine& m) { m.jitter = -0.1; });
    refused([](VirtualMachine& m) { m.costs[Cost::kick] = -1; });
    refused([](VirtualMachine& m) { m.costs[Cost::kick] = 2e6; });
    refused([](VirtualMachine& m) { m.costs[Cost::kick] = 0.0 / 0.0; });
    const State state{"virtio-vsock-rx", "per-packet", {}, machine_of(2)};
    Placement awake;
    awake.idle_poll = true;
    EXPECT_THROW(run(state, writes_of(64, 10), awake, kLong), std::invalid_argument);
    EXPECT_THROW(find_cost("wakes"), std::invalid_argument);
    EXPECT_EQ(find_cost("wake_latency"), Cost::wake_latency);
    Placement elsewhere;
    elsewhere.worker_cpu = 2;
    EXPECT_EQ(run(state, writes_of(64, 10), elsewhere, kLong).failure,
              "pinning the worker: the virtual machine has no CPU 2");
}

TEST(VirtualClock, StopAndDeadlineGoByRealTime) {
    const State state;
    const Workload endless = writes_of(64, std::uint64_t{1} << 40);
    EXPECT_EQ(run_on(machine_of(3), state, endless, kLong, [] { return true; }).failure,
              "interrupted");
    EXPECT_EQ(run_on(machine_of(3), state, endless, 1'000'000).failure.substr(0, 17),
              "deadline exceeded");
    const State pointers{"vhost-net-rx", "batch", {}};
    EXPECT_EQ(run_on(machine_of(3), pointers, endless, 1'000'000).failure,
              "deadline: the trial had not ended in time");
}

// The published gains of the whole series over the baseline: 64 KiB recv(), 64 B to 64 KiB.
constexpr std::array<double, 8> kPublishedGain{92.91, 68.29, 56.70, 44.75,
                                               47.76, 18.68, 9.47,  2.88};
constexpr std::array<std::uint64_t, 8> kPayloads{64, 256, 512, 1024, 4096, 8192, 16384, 65536};

std::vector<double> ranks_of(std::span<const double> values) {
    std::vector<double> ranks;
    for (const double value : values) {
        const auto below = std::count_if(values.begin(), values.end(),
                                         [&](double other) { return other < value; });
        const auto equal = std::count(values.begin(), values.end(), value);
        ranks.push_back(static_cast<double>(below) + static_cast<double>(equal + 1) / 2);
    }
    return ranks;
}

double spearman(std::span<const double> x, std::span<const double> y) {
    const auto a = ranks_of(x);
    const auto b = ranks_of(y);
    const double mean = static_cast<double>(a.size() + 1) / 2;
    double ab = 0;
    double aa = 0;
    double bb = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        ab += (a[i] - mean) * (b[i] - mean);
        aa += (a[i] - mean) * (a[i] - mean);
        bb += (b[i] - mean) * (b[i] - mean);
    }
    return ab / std::sqrt(aa * bb);
}

// Order, not magnitude, and at two credit windows, for the schedule can resonate with one.
TEST(VirtualClockReference, TheGainFallsWithPayloadAsThePublishedOneDoes) {
    for (const std::uint64_t buf_alloc : {262144U, 4194304U}) {
        std::vector<double> gains;
        std::string text;
        for (const std::uint64_t payload : kPayloads) {
            std::array<double, 2> rate{};
            for (const std::size_t b : {0U, 1U}) {
                const State state{"virtio-vsock-rx",
                                  b == 0 ? "per-packet" : "deferred-notify",
                                  {{"buf-alloc", buf_alloc}}};
                const std::uint64_t writes =
                    std::clamp<std::uint64_t>((std::uint64_t{16} << 20) / payload, 400, 8000);
                const Outcome o = run_on(machine_of(2), state, writes_of(payload, writes));
                ASSERT_EQ(o.failure, "");
                rate[b] = headline("virtio-vsock-rx", o).value;
            }
            gains.push_back((rate[1] / rate[0] - 1) * 100);
            text += std::to_string(payload) + ": " + std::to_string(rate[0]) + " " +
                    std::to_string(rate[1]) + " " + std::to_string(gains.back()) + "%\n";
        }
        const double rho = spearman(gains, kPublishedGain);
        RecordProperty("spearman_" + std::to_string(buf_alloc), std::to_string(rho));
        // The wide window lets the queue grow where the narrow one stops the sender: above 4 KiB it
        // is another picture, and a weaker order.
        EXPECT_GE(rho, buf_alloc == 262144 ? 0.85 : 0.6) << "buf-alloc " << buf_alloc << "\n"
                                                         << text;
        EXPECT_GT(gains.front(), 0) << text;
    }
}

}  // namespace
}  // namespace vsb::engine
