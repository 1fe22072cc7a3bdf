#include "engine/vhost_net_rx/worker.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "engine/sync/clock.h"
#include "engine/sync/spinlock.h"
#include "engine/trial/sleep_until.h"
#include "engine/vhost_net_rx/guest.h"

namespace vsb::engine::vhost_net_rx {
namespace {

// What is wrong with a packet as the guest has it; empty when nothing is.
std::string fault(const Packet& packet, const Guest::Used& used, std::uint64_t expected,
                  std::uint32_t length, const trial::Pattern& pattern) {
    if (packet.sequence != expected) {
        return "packet " + std::to_string(packet.sequence) + " arrived where packet " +
               std::to_string(expected) + " was due";
    }
    if (packet.length != length || used.bytes == nullptr || used.length != length) {
        return "packet " + std::to_string(expected) + " has " + std::to_string(packet.length) +
               " bytes, not " + std::to_string(length);
    }
    if (std::memcmp(used.bytes, pattern.of(expected), length) != 0) {
        return "packet " + std::to_string(expected) + " does not hold the bytes that were sent";
    }
    return {};
}

}  // namespace

WorkerCounts drain(Dequeue& dequeue, PacketPool& pool, const trial::Pattern& pattern,
                   std::uint64_t packets, std::uint32_t length, std::uint64_t busy_polls,
                   WaitQueue& queue, Task& task, trial::Trial& trial) {
    WorkerCounts counts;
    Guest guest((std::size_t{length} + 63) / 64 * 64);
    std::uint64_t idle = 0;
    while (counts.delivered < packets && !trial.ended()) {
        std::uint32_t next = dequeue.peek_length();
        if (next == 0) {
            ++counts.empty_polls;
            if (idle++ < busy_polls) {
                cpu_relax();
                continue;
            }
            counts.sleeps += trial::sleep_until(
                queue, task, [&] { return (next = dequeue.peek_length()) != 0; });
            if (next == 0) break;
        }
        idle = 0;
        if (counts.delivered == 0) counts.first_ns = now_ns();
        Packet* const packet = dequeue.take();
        // tun_put_user(): the guest's buffers are chosen by the length peeked at.
        const DeviceQueue::Buffer buffer = guest.next_buffer();
        const std::uint32_t written = std::min(next, buffer.len);
        // NOLINTNEXTLINE(performance-no-int-to-ptr): a descriptor's address is a number
        std::memcpy(reinterpret_cast<std::byte*>(buffer.addr), packet->bytes(), written);
        pay(Cost::device_packet);
        spend(Cost::copy_byte, written);
        counts.signals += guest.add_used_and_signal(buffer, written) ? 1 : 0;
        const Guest::Used used = guest.take_used();
        const std::string wrong = fault(*packet, used, counts.delivered, length, pattern);
        if (used.bytes != nullptr) guest.post_again(used.bytes);
        pool.put(packet);
        if (!wrong.empty()) {
            trial.fail(wrong);
            break;
        }
        ++counts.delivered;
        counts.bytes += length;
    }
    counts.last_ns = now_ns();
    return counts;
}

}  // namespace vsb::engine::vhost_net_rx
