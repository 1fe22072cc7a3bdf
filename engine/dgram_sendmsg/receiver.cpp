#include "engine/dgram_sendmsg/receiver.h"

#include <cstring>
#include <numeric>
#include <string>

#include "engine/sync/clock.h"
#include "engine/trial/sleep_until.h"

namespace vsb::engine::dgram_sendmsg {
namespace {

constexpr std::uint32_t kFirstRemotePort = 5000;
constexpr std::uint32_t kFirstRemoteCid = 2;

std::string to_text(const Address& address) {
    return std::to_string(address.cid) + ":" + std::to_string(address.port);
}

// What is wrong with a datagram; empty when nothing is.
std::string fault(const Datagram& datagram, const Expected& expected, const Received& so_far,
                  const trial::Pattern& pattern) {
    if (datagram.sender >= expected.datagrams.size()) {
        return "a datagram names sender " + std::to_string(datagram.sender) +
               ", who does not exist";
    }
    const auto name = [&] {
        return "datagram " + std::to_string(datagram.sequence) + " of sender " +
               std::to_string(datagram.sender);
    };
    const std::uint64_t due = so_far.datagrams[datagram.sender];
    if (datagram.sequence != due) {
        return name() + " arrived where its datagram " + std::to_string(due) + " was due";
    }
    if (due >= expected.datagrams[datagram.sender]) return name() + " is one too many";
    if (datagram.length != expected.length) {
        return name() + " has " + std::to_string(datagram.length) + " bytes, not " +
               std::to_string(expected.length);
    }
    if (std::memcmp(datagram.bytes(), pattern.of(content_of(datagram.sender, due)),
                    datagram.length) != 0) {
        return name() + " does not hold the bytes that were sent";
    }
    if (datagram.from != expected.from) return name() + " comes from " + to_text(datagram.from);
    const std::uint64_t destination = std::uint64_t{datagram.to.port} - kFirstRemotePort;
    if (destination >= expected.destinations || datagram.to != address_of(destination)) {
        return name() + " went to " + to_text(datagram.to) + ", where nobody sent it";
    }
    if (datagram.transport != transport_of(destination)) {
        return name() + " went to " + to_text(datagram.to) + " by the transport of another address";
    }
    return {};
}

}  // namespace

Address address_of(std::uint64_t n) noexcept {
    return {kFirstRemoteCid + transport_of(n), kFirstRemotePort + static_cast<std::uint32_t>(n)};
}

std::uint32_t transport_of(std::uint64_t n) noexcept {
    return static_cast<std::uint32_t>(n % 2);
}

std::uint64_t content_of(std::uint32_t sender, std::uint64_t sequence) noexcept {
    return (std::uint64_t{sender} << 48) ^ sequence;
}

Received receive(ReceiveQueue& queue, SendBuffer& buffer, const Expected& expected,
                 const trial::Pattern& pattern, Current& me, trial::Trial& trial) {
    Received received;
    received.datagrams.resize(expected.datagrams.size());
    const std::uint64_t total =
        std::accumulate(expected.datagrams.begin(), expected.datagrams.end(), std::uint64_t{0});
    bool good = true;
    while (good && received.total < total && !trial.ended()) {
        if (queue.empty()) {
            me.counts.sleeps +=
                trial::sleep_until(queue.readers(), me.task, [&] { return !queue.empty(); });
        }
        if (received.total == 0) received.first_ns = now_ns();
        Datagram* next = queue.take_all();
        received.takes += next != nullptr ? 1 : 0;
        while (next != nullptr) {
            const DatagramPtr datagram(next);
            next = datagram->next;
            if (const std::string wrong = fault(*datagram, expected, received, pattern);
                good && !wrong.empty()) {
                trial.fail(wrong);
                good = false;
            }
            spend(Cost::system_call);
            spend(Cost::copy_byte, datagram->length);
            spend(Cost::compare_byte, datagram->length);
            buffer.release(Transport::cost(datagram->length), me);
            if (!good) continue;
            ++received.datagrams[datagram->sender];
            ++received.total;
            received.bytes += datagram->length;
        }
    }
    received.last_ns = now_ns();
    return received;
}

}  // namespace vsb::engine::dgram_sendmsg
