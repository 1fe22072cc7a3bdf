// The hot functions of vhost-net-rx, vhost-vsock-used and dgram-sendmsg, each timed in turn with
// the floor of its system on the same data, single-threaded. Before anything is timed, a policy
// must deliver what the floor delivers. Counters: ns_item, the time of one packet, entry or call;
// x_floor, the policy's time over the floor's; x_memcpy, over that of copying an item's bytes by
// itself, where it has bytes.

#include <benchmark/benchmark.h>

#include <array>
#include <cstring>
#include <ctime>
#include <memory>
#include <new>
#include <vector>

#include "engine/dgram_sendmsg/grace_period.h"
#include "engine/dgram_sendmsg/record_pointer.h"
#include "engine/dgram_sendmsg/send.h"
#include "engine/ring/driver_queue.h"
#include "engine/vhost_net_rx/dequeue.h"
#include "engine/vhost_net_rx/packet_pool.h"
#include "engine/vhost_vsock_used/publish.h"
#include "engine/vsock/socket_lock.h"

namespace vsb::engine {
namespace {

double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Copies `items` times `bytes`, over the same memory.
struct Copying {
    Copying(std::int64_t items, std::size_t bytes) : n(items), from(bytes), to(bytes) {}
    void prepare() {}
    void run() {
        for (std::int64_t i = 0; i < n; ++i) {
            std::memcpy(to.data(), from.data(), from.size());
            benchmark::DoNotOptimize(to.data());
            benchmark::ClobberMemory();
        }
    }
    std::int64_t n;
    std::vector<std::byte> from;
    std::vector<std::byte> to;
};

// One turn of policy, floor and memcpy an iteration; each turn does `items` of the work, each of
// which moves `bytes`.
template <class Policy, class Floor>
void time_against_floor(benchmark::State& state, std::int64_t items, std::size_t bytes,
                        Policy policy, Floor floor) {
    Copying copying(items, bytes);
    double of_policy = 0;
    double of_floor = 0;
    double of_memcpy = 0;
    const auto seconds_of = [](auto& turn) {
        turn.prepare();
        const double start = cpu_seconds();
        turn.run();
        return cpu_seconds() - start;
    };
    for ([[maybe_unused]] auto _ : state) {
        const double seconds = seconds_of(policy);
        of_floor += seconds_of(floor);
        if (bytes != 0) of_memcpy += seconds_of(copying);
        of_policy += seconds;
        state.SetIterationTime(seconds);
    }
    const std::int64_t done = state.iterations() * items;
    state.SetItemsProcessed(done);
    state.counters["ns_item"] = of_policy * 1e9 / static_cast<double>(done);
    state.counters["x_floor"] = of_policy / of_floor;
    if (bytes == 0) return;
    state.counters["x_memcpy"] = of_policy / of_memcpy;
    state.SetBytesProcessed(done * static_cast<std::int64_t>(bytes));
}

namespace net = vhost_net_rx;

constexpr std::int64_t kPackets = 500;
constexpr std::uint32_t kPacketBytes = 64;

// A full pointer ring, emptied by one policy: peek, take, copy, free.
struct Dequeuing {
    template <class Make>
    explicit Dequeuing(Make make) : dequeue(make(ring)), got(kPackets * kPacketBytes) {}

    void prepare() {
        for (std::int64_t n = 0; n < kPackets; ++n) {
            net::Packet* const packet = pool.take();
            packet->sequence = static_cast<std::uint64_t>(n);
            packet->length = kPacketBytes;
            std::memset(packet->bytes(), static_cast<int>(n % 251), kPacketBytes);
            ring.produce(packet);
        }
    }
    void run() {
        std::byte* to = got.data();
        while (const std::uint32_t length = dequeue->peek_length()) {
            net::Packet* const packet = dequeue->take();
            std::memcpy(to, packet->bytes(), length);
            to += length;
            pool.put(packet);
        }
        benchmark::DoNotOptimize(to);
    }

    net::PtrRing<net::Packet> ring{kPackets};
    net::PacketPool pool{kPackets + 2, kPacketBytes};
    std::unique_ptr<net::Dequeue> dequeue;
    std::vector<std::byte> got;
};

template <class Make>
void dequeue_with(benchmark::State& state, Make make) {
    Dequeuing policy(make);
    Dequeuing floor(net::make_noop);
    policy.prepare(), policy.run();
    floor.prepare(), floor.run();
    if (policy.got != floor.got) return state.SkipWithError("the policies deliver different bytes");
    struct Turn {
        Dequeuing& of;
        void prepare() { of.prepare(); }
        void run() { of.run(); }
    };
    time_against_floor(state, kPackets, kPacketBytes, Turn{policy}, Turn{floor});
}

void vhost_net_dequeue_per_skb(benchmark::State& state) {
    dequeue_with(state, net::make_per_skb);
}
void vhost_net_dequeue_batch(benchmark::State& state) {
    const auto batch = static_cast<std::size_t>(state.range(0));
    dequeue_with(state, [&](auto& ring) { return net::make_batch(ring, batch); });
}
BENCHMARK(vhost_net_dequeue_per_skb)->UseManualTime();
BENCHMARK(vhost_net_dequeue_batch)->Arg(1)->Arg(4)->Arg(16)->Arg(64)->Arg(256)->UseManualTime();

namespace used = vhost_vsock_used;

constexpr std::uint16_t kRing = 128;

// A ring of posted buffers: each is popped, published as used, and taken by the driver.
struct Publishing {
    template <class Make>
    explicit Publishing(Make make)
        : memory(static_cast<std::byte*>(::operator new(Vring::bytes(kRing), kAlignment))),
          ring(Vring::over(clear(memory.get()), kRing, true)),
          driver(ring),
          device(ring),
          publish(make(device)),
          got(kRing) {}

    static std::byte* clear(std::byte* at) {
        std::memset(at, 0, Vring::bytes(kRing));
        return at;
    }
    void prepare() {
        for (auto& buffer : buffers)
            driver.add(&buffer, &buffer, 1, true);
    }
    void run() {
        DeviceQueue::Buffer buffer;
        for (std::uint32_t n = 0; device.pop(buffer); ++n)
            publish->add(buffer.head, n);
        publish->flush(used::Flush::leave);
        std::uint32_t length = 0;
        for (std::size_t n = 0; void* const token = driver.get_buf(length); ++n) {
            got[n] = {static_cast<std::size_t>(static_cast<std::byte*>(token) - buffers.data()),
                      length};
        }
    }

    static constexpr std::align_val_t kAlignment{64};
    struct Free {
        void operator()(std::byte* at) const { ::operator delete(at, kAlignment); }
    };
    std::unique_ptr<std::byte, Free> memory;
    Vring ring;
    DriverQueue driver;
    DeviceQueue device;
    std::unique_ptr<used::Publish> publish;
    std::array<std::byte, kRing> buffers{};
    std::vector<std::pair<std::size_t, std::uint32_t>> got;  // which buffer, how many bytes
};

template <class Make>
void publish_with(benchmark::State& state, Make make) {
    Publishing policy(make);
    Publishing floor([](DeviceQueue& device) { return used::make_noop(device, kRing); });
    policy.prepare(), policy.run();
    floor.prepare(), floor.run();
    if (policy.got != floor.got)
        return state.SkipWithError("the policies publish different entries");
    struct Turn {
        Publishing& of;
        void prepare() { of.prepare(); }
        void run() { of.run(); }
    };
    time_against_floor(state, kRing, 0, Turn{policy}, Turn{floor});
}

void vhost_vsock_publish_per_buffer(benchmark::State& state) {
    publish_with(state, used::make_per_buffer);
}
void vhost_vsock_publish_batched(benchmark::State& state) {
    const auto limit = static_cast<std::size_t>(state.range(0));
    publish_with(state, [&](DeviceQueue& device) { return used::make_batched(device, limit); });
}
BENCHMARK(vhost_vsock_publish_per_buffer)->UseManualTime();
BENCHMARK(vhost_vsock_publish_batched)->Arg(1)->Arg(16)->Arg(128)->UseManualTime();

namespace dgram = dgram_sendmsg;

constexpr std::int64_t kLookups = 100'000;

// Where does this socket send to? Under lock_sock(), by a read section, and not asked at all.
template <class Look>
struct Lookup {
    Look look;
    std::uint64_t sum = 0;
    void prepare() { sum = 0; }
    void run() {
        for (std::int64_t n = 0; n < kLookups; ++n) {
            const dgram::Address address = look();
            sum += address.port;
            benchmark::DoNotOptimize(sum);
        }
    }
};
template <class Look>
Lookup(Look) -> Lookup<Look>;

template <class Look>
void look_up_with(benchmark::State& state, Look look) {
    dgram::Address fixed{2, 5000};
    Lookup policy{look};
    Lookup floor{[&] {
        benchmark::DoNotOptimize(fixed);
        return fixed;
    }};
    policy.run();
    floor.run();
    if (policy.sum != floor.sum)
        return state.SkipWithError("the policies find different addresses");
    time_against_floor(state, kLookups, 0, policy, floor);
}

void dgram_lookup_socket_lock(benchmark::State& state) {
    SocketLock lock;
    Current me;
    dgram::Address remote{2, 5000};
    look_up_with(state, [&] {
        if (!lock.lock(me)) return dgram::Address{};
        const dgram::Address found = remote;
        lock.unlock(me);
        return found;
    });
}
void dgram_lookup_lockless(benchmark::State& state) {
    dgram::GracePeriods grace(16);
    dgram::RecordPointer<dgram::Address, dgram::GracePeriods> remote(
        grace, std::make_unique<const dgram::Address>(dgram::Address{2, 5000}));
    look_up_with(state, [&] {
        const dgram::ReadSection section(grace, 3);
        return *remote.load();
    });
}
BENCHMARK(dgram_lookup_socket_lock)->UseManualTime();
BENCHMARK(dgram_lookup_lockless)->UseManualTime();

constexpr std::uint64_t kSends = 32;
constexpr std::size_t kDatagramBytes = 4096;

// A burst of whole sends by one thread: look-up, allocation, copy, queue.
struct Sending {
    template <class Make>
    explicit Sending(Make make)
        : socket(make(dgram::Remote{{2, 5000}, &transport}, ports)), bytes(kDatagramBytes) {
        for (std::size_t i = 0; i < bytes.size(); ++i)
            bytes[i] = static_cast<std::byte>(i % 251);
    }
    void prepare() { received(); }
    void run() {
        for (std::uint64_t n = 0; n < kSends; ++n)
            socket->send({0, n, bytes}, me);
    }
    // What was sent since the last call.
    std::vector<std::byte> received() {
        std::vector<std::byte> all;
        for (dgram::Datagram* next = queue.take_all(); next != nullptr;) {
            const dgram::DatagramPtr one(next);
            next = one->next;
            all.push_back(static_cast<std::byte>(one->sequence));
            all.insert(all.end(), one->bytes(), one->bytes() + one->length);
        }
        return all;
    }

    dgram::ReceiveQueue queue;
    dgram::SendBuffer buffer{UINT64_MAX};
    dgram::Transport transport{0, buffer, queue};
    dgram::Ports ports;
    std::unique_ptr<dgram::Send> socket;
    std::vector<std::byte> bytes;
    Current me;
};

template <class Make>
void send_with(benchmark::State& state, Make make) {
    Sending policy(make);
    Sending floor(dgram::make_noop);
    policy.run();
    floor.run();
    const auto delivered = policy.received();
    if (delivered.size() != kSends * (kDatagramBytes + 1) || delivered != floor.received()) {
        return state.SkipWithError("the policies deliver different bytes");
    }
    struct Turn {
        Sending& of;
        void prepare() { of.prepare(); }
        void run() { of.run(); }
    };
    time_against_floor(state, kSends, kDatagramBytes, Turn{policy}, Turn{floor});
}

void dgram_send_socket_lock(benchmark::State& state) {
    send_with(state, dgram::make_socket_lock);
}
void dgram_send_lockless(benchmark::State& state) {
    send_with(state, [](const dgram::Remote& remote, dgram::Ports& ports) {
        return dgram::make_lockless(remote, ports, 16);
    });
}
BENCHMARK(dgram_send_socket_lock)->UseManualTime();
BENCHMARK(dgram_send_lockless)->UseManualTime();

}  // namespace
}  // namespace vsb::engine

BENCHMARK_MAIN();
