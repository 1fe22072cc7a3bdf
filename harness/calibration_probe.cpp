// The measuring half of calibration.h. Each round measures everything once, for a millisecond or
// so, so that a disturbance of the machine falls into one round of all costs and not all of one.
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <thread>

#include "engine/sync/clock.h"
#include "engine/vsock/machine.h"
#include "harness/calibration.h"
#include "harness/cpus.h"
#include "harness/machine_state.h"

namespace vsb::harness {
namespace {

using engine::Cost;
using engine::now_ns;

constexpr int kOperations = 4000;
constexpr std::uint64_t kEndless = std::uint64_t{1} << 50;

template <class Operation>
double ns_each(Operation operation, int times = kOperations) {
    const std::uint64_t before = now_ns();
    for (int i = 0; i < times; ++i)
        operation(i);
    return static_cast<double>(now_ns() - before) / times;
}

// The engine's own operations, nobody else about: the very code the virtual clock charges for.
class EngineProbe {
  public:
    EngineProbe()
        : pattern_(1),
          sender_(pattern_, kPayload, kEndless / kPayload),
          machine_({}, *engine::find_policy("per-packet"), sender_, pattern_,
                   engine::GuestProgram::Plan{kEndless, 0, 65536, false}, engine::Device::kBufAlloc,
                   false),
          ring_(128, true),
          pool_(128, 4096 - engine::kSharedInfoBytes),
          driver_(ring_.ring()),
          device_(ring_.ring()),
          out_(1 << 20),
          memory_(std::size_t{128} * 4096) {
        me_.owns_buffers = true;
    }

    double lookup() {
        engine::Socket& sk = machine_.socket();
        return ns_each([&](int) {
            machine_.context().tables.find_connected(sk.remote, sk.local, me_)->put(me_);
        });
    }
    double lock() {
        return ns_each([&](int) {
            if (lock_.lock(me_)) lock_.unlock(me_);
        });
    }
    double notification() {
        return ns_each([&](int) { engine::native_data_ready(machine_.socket(), me_); });
    }
    double copy_byte() {
        constexpr std::size_t kPiece = 3732;
        return ns_each([&](int i) {
                   const auto at = static_cast<std::size_t>(i % 128) * 4096;
                   std::memcpy(memory_.data() + at, pattern_.at(at % 60000), kPiece);
                   sink_ = std::to_integer<unsigned>(memory_[at + kPiece - 1]);
               }) /
               static_cast<double>(kPiece);
    }
    // After copy_byte(), which left the same bytes there, as recv()'s copy does.
    double compare_byte() {
        constexpr std::size_t kPiece = 3732;
        return ns_each([&](int i) {
                   const auto at = static_cast<std::size_t>(i % 128) * 4096;
                   const int order =
                       std::memcmp(memory_.data() + at, pattern_.at(at % 60000), kPiece);
                   sink_ = static_cast<unsigned>(order);
               }) /
               static_cast<double>(kPiece);
    }
    double spin() {
        return ns_each([&](int) {
            engine::cpu_relax();
            sink_ = 0;
        });
    }
    // A ring of buffers posted, and taken back untimed.
    double post_buffer() {
        std::uint64_t spent = 0;
        int posted = 0;
        while (posted < kOperations) {
            const std::uint64_t before = now_ns();
            while (driver_.free_entries() != 0) {
                engine::Skb* skb = pool_.take();
                driver_.add(skb, skb->head, skb->buffer_len, true);
                ++posted;
            }
            spent += now_ns() - before;
            engine::DeviceQueue::Buffer buffer;
            while (device_.pop(buffer))
                device_.push(buffer.head, 0);
            std::uint32_t used = 0;
            while (void* token = driver_.get_buf(used))
                pool_.free(*static_cast<engine::Skb*>(token), me_);
        }
        return static_cast<double>(spent) / posted;
    }
    struct Sides {
        double device = 0;
        double worker = 0;
    };
    // What either side spends on a packet altogether.
    Sides packet() {
        std::uint64_t device_ns = 0;
        std::uint64_t worker_ns = 0;
        const std::uint64_t before_packets = me_.counts.packets;
        while (me_.counts.packets - before_packets < kOperations) {
            const std::uint64_t a = now_ns();
            machine_.device().run(me_);
            const std::uint64_t b = now_ns();
            machine_.worker().run(me_);
            worker_ns += now_ns() - b;
            device_ns += b - a;
            while (engine::recv_stream(machine_.context(), machine_.socket(), out_.data(),
                                       static_cast<std::uint32_t>(out_.size()), true, me_)
                       .status == engine::RecvStatus::data) {
            }
        }
        const auto packets = static_cast<double>(me_.counts.packets - before_packets);
        return {static_cast<double>(device_ns) / packets, static_cast<double>(worker_ns) / packets};
    }

    static constexpr std::uint64_t kPayload = 256;  // too large to be merged, too small to matter

  private:
    engine::Current me_;
    engine::Pattern pattern_;
    engine::Sender sender_;
    engine::Machine machine_;
    engine::SocketLock lock_;
    engine::RingMemory ring_;
    engine::SkbPool pool_;
    engine::DriverQueue driver_;
    engine::DeviceQueue device_;
    std::vector<std::byte> out_;
    std::vector<std::byte> memory_;
    volatile unsigned sink_ = 0;
};

// A store to a line that another CPU polls.
double probe_publish(int cpu, int reader_cpu) {
    alignas(64) std::atomic<std::uint32_t> line{0};
    std::atomic<bool> ready{false};
    std::atomic<bool> over{false};
    std::jthread reader([&] {
        pin_this_thread(reader_cpu);
        ready = true;
        while (!over.load(std::memory_order_relaxed))
            static_cast<void>(line.load(std::memory_order_acquire));
    });
    double ns = 0;
    std::jthread writer([&] {
        pin_this_thread(cpu);
        while (!ready)
            sched_yield();
        ns = ns_each(
            [&](int i) { line.store(static_cast<std::uint32_t>(i), std::memory_order_release); });
        over = true;
    });
    writer.join();
    return ns;
}

// The engine's copies cross CPUs: the device's goes into buffers that the receiver's CPU read last,
// the receiver's comes out of what the other CPU has just written. One recv() of 64 KiB at a time;
// the mean of the two directions, an ns a byte.
double probe_copy(int device_cpu, int receiver_cpu) {
    constexpr std::size_t kPiece = 3732;
    constexpr std::size_t kPieces = 65536 / kPiece + 1;
    constexpr int kRounds = 60;
    constexpr int kUntimed = 15;
    const engine::Pattern pattern(1);
    std::vector<std::byte> buffers(kPieces * 4096);
    std::vector<std::byte> out(kPieces * kPiece);
    alignas(64) std::atomic<int> turn{0};  // even: the device's
    std::array<double, 2> spent{};
    const auto play = [&](int self, int cpu, auto copy) {
        pin_this_thread(cpu);
        for (int round = 0; round < kRounds; ++round) {
            while (turn.load(std::memory_order_acquire) != 2 * round + self)
                engine::cpu_relax();
            const std::uint64_t before = now_ns();
            for (std::size_t i = 0; i < kPieces; ++i)
                copy(i);
            // The first rounds touch memory nobody has touched.
            if (round >= kUntimed)
                spent[static_cast<std::size_t>(self)] += static_cast<double>(now_ns() - before);
            turn.store(2 * round + self + 1, std::memory_order_release);
        }
    };
    std::thread device([&] {
        play(0, device_cpu, [&](std::size_t i) {
            std::memcpy(buffers.data() + i * 4096, pattern.at(i * 3001), kPiece);
        });
    });
    std::thread receiver([&] {
        play(1, receiver_cpu, [&](std::size_t i) {
            std::memcpy(out.data() + i * kPiece, buffers.data() + i * 4096, kPiece);
        });
    });
    device.join();
    receiver.join();
    constexpr std::size_t kTimed = kRounds - kUntimed;
    return (spent[0] + spent[1]) / static_cast<double>(2 * kTimed * kPieces * kPiece);
}

std::uint64_t switches_of_this_thread() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return static_cast<std::uint64_t>(usage.ru_nvcsw + usage.ru_nivcsw);
}

// Two threads of one CPU that yield to each other. 0 when they did not take turns.
double probe_switch(int cpu) {
    std::atomic<int> ready{0};
    std::array<std::uint64_t, 2> switches{};
    std::array<double, 2> spent{};
    const auto play = [&](std::size_t self) {
        pin_this_thread(cpu);
        ++ready;
        while (ready < 2)
            sched_yield();
        const std::uint64_t before = switches_of_this_thread();
        const std::uint64_t started = now_ns();
        for (int i = 0; i < 1000; ++i)
            sched_yield();
        spent[self] = static_cast<double>(now_ns() - started);
        switches[self] = switches_of_this_thread() - before;
    };
    std::thread one(play, 0);
    std::thread two(play, 1);
    one.join();
    two.join();
    const std::uint64_t all = switches[0] + switches[1];
    return all < 500 ? 0 : std::max(spent[0], spent[1]) / static_cast<double>(all);
}

class Samples {
  public:
    void add(Cost cost, double ns) {
        auto& list = of_[static_cast<std::size_t>(cost)];
        list.push_back(std::max(0.0, ns));
    }
    void add(Cost cost, const std::optional<double>& ns) {
        if (ns) add(cost, *ns);
    }
    CostEstimate estimate(std::size_t index) {
        const engine::CostInfo& info = engine::cost_table()[index];
        CostEstimate cost{std::string(info.name), info.default_ns, {}, {}};
        auto& list = of_[index];
        // Fewer rounds than planned give no interval of that level.
        if (list.size() != kCalibrationRounds) return cost;
        std::ranges::sort(list);
        cost.ns = list[kCalibrationRounds / 2];
        cost.low_ns = list[1];
        cost.high_ns = list[kCalibrationRounds - 2];
        return cost;
    }

  private:
    std::array<std::vector<double>, engine::kCosts> of_;
};

void add_engine_costs(EngineProbe& probe, Samples& samples) {
    const double lookup = probe.lookup();
    const double lock = probe.lock();
    const double notification = probe.notification();
    const double copy = probe.copy_byte();
    const double compare = probe.compare_byte();
    const double post = probe.post_buffer();
    const EngineProbe::Sides sides = probe.packet();
    samples.add(Cost::lookup, lookup);
    samples.add(Cost::lock, lock);
    samples.add(Cost::notification, notification);
    samples.add(Cost::post_buffer, post);
    samples.add(Cost::compare_byte, compare);
    samples.add(Cost::spin, probe.spin());
    // What is left of a packet when everything that has a name of its own is taken off: two
    // notifications each, with one socket.
    samples.add(Cost::packet, sides.worker - lookup - lock - 2 * notification - post);
    samples.add(Cost::device_packet, sides.device - copy * EngineProbe::kPayload);
}

double median_or_0(std::vector<double> values) {
    if (values.empty()) return 0;
    std::ranges::sort(values);
    return values[values.size() / 2];
}

}  // namespace

Calibration measure_costs(int cpu, int other_cpu) {
    Samples samples;
    std::vector<double> loads;
    std::vector<double> system_calls;
    EngineProbe probe;
    for (int round = 0; round < kCalibrationRounds; ++round) {
        const MachineState state = measure_machine_state(cpu, other_cpu);
        if (state.syscall_cost_ns) system_calls.push_back(*state.syscall_cost_ns);
        samples.add(Cost::wake, state.wake_cost_ns);
        samples.add(Cost::wake_latency, state.wake_latency_ns);
        if (state.cache_line_round_trip_ns)
            samples.add(Cost::lock_handover, *state.cache_line_round_trip_ns / 2);
        if (state.load_of_others) loads.push_back(*state.load_of_others);
        std::thread worker([&] {
            pin_this_thread(cpu);
            add_engine_costs(probe, samples);
        });
        worker.join();
        if (cpu != other_cpu) {
            samples.add(Cost::publish, probe_publish(cpu, other_cpu));
            samples.add(Cost::copy_byte, probe_copy(cpu, other_cpu));
        }
        // A yield is a system call too.
        if (const double each = probe_switch(cpu); each > 0)
            samples.add(Cost::context_switch, each - state.syscall_cost_ns.value_or(0));
    }
    Calibration calibration;
    for (std::size_t i = 0; i < engine::kCosts; ++i)
        calibration.costs.push_back(samples.estimate(i));
    calibration.load_of_others = median_or_0(loads);
    calibration.kernel_entry_ns = median_or_0(system_calls);
    return calibration;
}

}  // namespace vsb::harness
