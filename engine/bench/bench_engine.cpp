// What the worker spends on a packet, per policy and payload: one ring of packets at a time, on one
// thread, with nobody asleep, so that look-ups, locks, queueing and the calls of notifications are
// seen and wakes are not. Beside it the floor (ring, header and credit: noop that drops the bytes)
// and a bare memcpy of the payload. The noop row copies and checks the bytes, which for the others
// is the receiver's work. Before anything is timed each policy delivers a stretch of the stream,
// which must be byte for byte what per-packet delivers.
//
// Below that the worker's parts by themselves: look-up, socket lock, queueing a packet, copying it
// out (publications, dequeues and sends of the other systems: bench_systems).
//
// Counters: ns_packet; x_floor and x_memcpy, the same as multiples of the floor and of memcpy;
// locks_packet.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "engine/sync/clock.h"
#include "engine/vsock/machine.h"

namespace vsb::engine {
namespace {

constexpr std::uint64_t kEndless = std::uint64_t{1} << 50;
constexpr int kFloorRounds = 200;

class Loop {
  public:
    Loop(std::string_view policy, std::uint64_t payload, bool discard = false)
        : pattern_(1),
          sender_(pattern_, payload, kEndless / payload),
          machine_({}, *find_policy(policy), sender_, pattern_, {kEndless, 0, 65536, discard},
                   Device::kBufAlloc, false),
          out_(262145) {
        me.owns_buffers = true;
    }

    // Fills the ring, lets the worker drain it, reads everything. Nanoseconds of the worker.
    std::uint64_t round() {
        machine_.device().run(me);
        const std::uint64_t before = now_ns();
        machine_.worker().run(me);
        const std::uint64_t spent = now_ns() - before;
        got_ = 0;
        Received received;
        do {
            received = recv_stream(machine_.context(), machine_.socket(), out_.data() + got_,
                                   static_cast<std::uint32_t>(out_.size()) - got_, true, me);
            got_ += received.bytes;
        } while (received.status == RecvStatus::data);
        return spent;
    }
    const std::byte* bytes() const { return out_.data(); }
    std::uint32_t got() const { return got_; }
    bool matches() { return machine_.guest().matches(); }
    std::uint64_t sent() { return machine_.device().bytes_sent(); }

    Current me;

  private:
    Pattern pattern_;
    Sender sender_;
    Machine machine_;
    std::vector<std::byte> out_;
    std::uint32_t got_ = 0;
};

// Empty if `policy` delivers what per-packet delivers.
std::string differs(std::string_view policy, std::uint64_t payload) {
    Loop loop(policy, payload);
    Loop reference("per-packet", payload);
    for (int i = 0; i < 50; ++i) {
        loop.round();
        reference.round();
        if (policy == "noop") {
            if (!loop.matches()) return "noop took other bytes than were sent";
        } else if (loop.got() != reference.got() ||
                   std::memcmp(loop.bytes(), reference.bytes(), loop.got()) != 0) {
            return std::string(policy) + " delivers other bytes than per-packet";
        }
    }
    if (loop.me.counts.payload_bytes != loop.sent())
        return std::string(policy) + " took another number of bytes than were sent";
    return {};
}

double floor_ns(std::uint64_t payload) {
    Loop loop("noop", payload, true);
    for (int i = 0; i < kFloorRounds; ++i)
        loop.round();
    const std::uint64_t packets = loop.me.counts.packets;
    std::uint64_t spent = 0;
    for (int i = 0; i < kFloorRounds; ++i)
        spent += loop.round();
    return static_cast<double>(spent) / static_cast<double>(loop.me.counts.packets - packets);
}

double memcpy_ns(std::uint64_t payload) {
    const std::uint64_t piece = std::min<std::uint64_t>(payload, 3732);
    std::vector<std::byte> from(piece);
    std::vector<std::byte> to(piece);
    constexpr int kCopies = 100000;
    const std::uint64_t before = now_ns();
    for (int i = 0; i < kCopies; ++i) {
        std::memcpy(to.data(), from.data(), piece);
        benchmark::DoNotOptimize(to.data());
        benchmark::ClobberMemory();
    }
    return static_cast<double>(now_ns() - before) / kCopies;
}

struct Floor {
    double noop_ns;
    double memcpy_ns;
};

const Floor& floor_of(std::uint64_t payload) {
    static std::map<std::uint64_t, Floor> known;
    const auto [at, fresh] = known.try_emplace(payload);
    if (fresh) at->second = {floor_ns(payload), memcpy_ns(payload)};
    return at->second;
}

void worker(benchmark::State& state, std::string_view policy) {
    const auto payload = static_cast<std::uint64_t>(state.range(0));
    if (const std::string fault = differs(policy, payload); !fault.empty()) {
        state.SkipWithError(fault.c_str());
        return;
    }
    const Floor& floor = floor_of(payload);
    Loop loop(policy, payload);
    loop.round();
    const Counters before = loop.me.counts;
    std::uint64_t spent = 0;
    for ([[maybe_unused]] auto _ : state) {
        const std::uint64_t ns = loop.round();
        spent += ns;
        state.SetIterationTime(static_cast<double>(ns) * 1e-9);
    }
    const auto packets = static_cast<double>(loop.me.counts.packets - before.packets);
    const double ns = static_cast<double>(spent) / packets;
    state.counters["ns_packet"] = ns;
    state.counters["x_floor"] = ns / floor.noop_ns;
    state.counters["x_memcpy"] = ns / floor.memcpy_ns;
    // The reader's recv() calls take the lock too: two a round, off the worker's account.
    const auto locks =
        static_cast<double>(loop.me.counts.lock_acquisitions - before.lock_acquisitions -
                            (loop.me.counts.recv_calls - before.recv_calls));
    state.counters["locks_packet"] = locks / packets;
    state.SetBytesProcessed(
        static_cast<std::int64_t>(loop.me.counts.payload_bytes - before.payload_bytes));
}

// One socket of the guest, its parts called one by one on this thread.
struct Parts {
    explicit Parts(std::uint64_t payload)
        : sender(pattern, payload, 1),
          machine({}, *find_policy("per-packet"), sender, pattern, {payload, 0, 65536},
                  Device::kBufAlloc, false) {
        me.owns_buffers = true;
    }
    Pattern pattern{1};
    Sender sender;
    Machine machine;
    Current me;
};

// virtio_transport_recv_pkt's look-up, with the reference it takes and drops.
void lookup(benchmark::State& state) {
    Parts parts(64);
    SocketTables& tables = parts.machine.context().tables;
    for ([[maybe_unused]] auto _ : state) {
        Socket* sk = tables.find_connected(Machine::kHost, Machine::kGuest, parts.me);
        benchmark::DoNotOptimize(sk);
        sk->put(parts.me);
    }
    state.SetItemsProcessed(state.iterations());
}

// lock_sock and release_sock with nobody else there.
void socket_lock(benchmark::State& state) {
    Parts parts(64);
    SocketLock& lock = parts.machine.socket().lock;
    for ([[maybe_unused]] auto _ : state) {
        if (!lock.lock(parts.me)) state.SkipWithError("the lock was not given");
        lock.unlock(parts.me);
    }
    state.SetItemsProcessed(state.iterations());
}

// Time of the one part that a turn is about, of the other nothing.
enum class Part : std::uint8_t { enqueue, dequeue };

// A turn queues packets (recv_enqueue) and copies them out again (stream_do_dequeue).
void queue(benchmark::State& state, Part timed) {
    constexpr std::uint32_t kPacketsATurn = 60;
    const auto payload = static_cast<std::uint32_t>(state.range(0));
    Parts parts(payload);
    Socket& sk = parts.machine.socket();
    ReceiveContext& ctx = parts.machine.context();
    std::vector<std::byte> out(std::size_t{kPacketsATurn} * payload);
    Header header;
    header.type = PacketType::stream;
    header.op = Op::rw;
    header.len = payload;
    for ([[maybe_unused]] auto _ : state) {
        std::uint64_t spent = 0;
        for (std::uint32_t n = 0; n < kPacketsATurn; ++n) {
            Skb* skb = ctx.pool.take();
            skb->len = payload;
            std::memset(skb->payload(), static_cast<int>(n), payload);
            const std::uint64_t before = now_ns();
            recv_enqueue(ctx, sk, {skb, header}, parts.me);
            spent += now_ns() - before;
        }
        const std::uint64_t before = now_ns();
        const auto got = sk.rx.dequeue_stream(out.data(), kPacketsATurn * payload, 1, parts.me);
        const std::uint64_t dequeue_ns = now_ns() - before;
        if (got.bytes != out.size() || out.back() != std::byte{kPacketsATurn - 1}) {
            state.SkipWithError("other bytes came out than went in");
        }
        // Each enqueue was timed with a clock read of its own; that is taken off again.
        static const std::uint64_t clock_ns = measure_clock_cost_ns();
        const std::uint64_t clocks = std::min(spent, kPacketsATurn * clock_ns);
        const std::uint64_t ns = timed == Part::enqueue ? spent - clocks : dequeue_ns;
        state.SetIterationTime(static_cast<double>(ns) * 1e-9);
    }
    state.SetItemsProcessed(state.iterations() * kPacketsATurn);
    // An enqueue moves no byte, it links a packet.
    if (timed == Part::dequeue) {
        state.SetBytesProcessed(state.iterations() * kPacketsATurn * payload);
    }
}

void packets(benchmark::internal::Benchmark* bench) {
    bench->Arg(64)->Arg(256)->Arg(3732)->UseManualTime();
}

void shapes(benchmark::internal::Benchmark* bench) {
    for (const std::int64_t payload : {64, 256, 512, 1024, 4096, 65536})
        bench->Arg(payload);
    bench->UseManualTime();
}

BENCHMARK_CAPTURE(worker, per_packet, "per-packet")->Apply(shapes);
BENCHMARK_CAPTURE(worker, lock_batch, "lock-batch")->Apply(shapes);
BENCHMARK_CAPTURE(worker, coalesce_write_space, "coalesce-write-space")->Apply(shapes);
BENCHMARK_CAPTURE(worker, deferred_notify, "deferred-notify")->Apply(shapes);
BENCHMARK_CAPTURE(worker, noop, "noop")->Apply(shapes);
BENCHMARK(lookup);
BENCHMARK(socket_lock);
BENCHMARK_CAPTURE(queue, enqueue, Part::enqueue)->Apply(packets);
BENCHMARK_CAPTURE(queue, copy_out, Part::dequeue)->Apply(packets);

}  // namespace
}  // namespace vsb::engine

BENCHMARK_MAIN();
