#include "engine/vhost_net_rx/producer.h"

#include <cstring>

#include "engine/sync/spinlock.h"

namespace vsb::engine::vhost_net_rx {
namespace {

// A full ring is looked at seldom: each look pulls the line from the consumer who must clear it.
constexpr int kRelaxes = 16;
constexpr std::uint64_t kYieldAfter = 64;

}  // namespace

ProducerCounts produce(PtrRing<Packet>& ring, PacketPool& pool, const trial::Pattern& pattern,
                       std::uint64_t packets, std::uint32_t length, WaitQueue& worker,
                       const trial::Trial& trial) noexcept {
    ProducerCounts counts;
    for (std::uint64_t sequence = 0; sequence < packets && !trial.ended(); ++sequence) {
        Packet* packet = pool.take();
        while (packet == nullptr && !trial.ended()) {
            yield_cpu();
            packet = pool.take();
        }
        if (packet == nullptr) break;
        packet->sequence = sequence;
        packet->length = length;
        std::memcpy(packet->bytes(), pattern.of(sequence), length);
        pay(Cost::packet);
        spend(Cost::copy_byte, length);
        for (std::uint64_t looks = 0; !ring.produce(packet); ++looks) {
            ++counts.full_polls;
            if (trial.ended()) {
                pool.untake(packet);
                return counts;
            }
            for (int i = 0; i < kRelaxes; ++i)
                cpu_relax();
            if (looks >= kYieldAfter) yield_cpu();
        }
        ++counts.produced;
        if (worker.has_sleeper()) counts.wakeups += worker.wake_up().system_calls;
    }
    return counts;
}

}  // namespace vsb::engine::vhost_net_rx
