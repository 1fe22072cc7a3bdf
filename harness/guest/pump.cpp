#include "harness/guest/pump.h"

#include <algorithm>
#include <array>
#include <optional>

namespace vsb::guest {
namespace {

using engine::Header;
using engine::kHeaderBytes;

constexpr std::size_t kMaxPacket = 64 * 1024;  // VIRTIO_VSOCK_MAX_PKT_BUF_SIZE
constexpr std::uint64_t kTickNs = 1'000'000;
constexpr std::size_t kTxAtOnce = 256;  // so that a guest that sends for ever cannot hold us

}  // namespace

DeviceCounts operator-(const DeviceCounts& after, const DeviceCounts& before) {
    return {after.rx_packets - before.rx_packets,     after.rx_bytes - before.rx_bytes,
            after.tx_packets - before.tx_packets,     after.bursts - before.bursts,
            after.publications - before.publications, after.signals - before.signals,
            after.starved - before.starved,           after.credit_waits - before.credit_waits,
            after.complaints - before.complaints};
}

Pump::Pump(std::uint64_t guest_cid, const DevicePolicy& policy)
    : policy_(policy), host_(guest_cid), backend_(guest_cid), scratch_(kMaxPacket) {}

void Pump::take_job(Job* job) {
    if (job_ != nullptr) {
        host_.set_events(nullptr);
        host_.forget_all();
        counts_.credit_waits += job_->credit_waits();
    }
    job_ = job;
    if (job_ == nullptr) return;
    host_.set_events(job_);
    last_tick_ns_ = monotonic_ns();
    next_burst_ns_ = 0;
    job_->start();
}

// Everything that can be done without waiting; ends with notifications on and nothing to do.
std::string Pump::pump(const std::function<bool()>& stop) {
    if (!backend_.ready()) return {};
    GuestQueue& rx = backend_.queue(kRxQueue);
    GuestQueue& tx = backend_.queue(kTxQueue);
    tx.disable_notify();
    rx.disable_notify();
    for (;;) {
        bool moved = take_tx();
        moved = send_burst() || moved;
        if (job_ != nullptr) {
            const std::uint64_t now = monotonic_ns();
            if (now - last_tick_ns_ >= kTickNs) {
                last_tick_ns_ = now;
                job_->tick();
            }
            if (job_->done()) break;
        }
        if (tx.broken() || rx.broken()) {
            return "the guest's driver broke the rules of its ring";
        }
        if (stop && stop()) break;
        if (moved) continue;
        // Nothing moved: ask for kicks, and look once more, for what came in between.
        const bool more_tx = tx.enable_notify();
        const bool more_rx = rx.enable_notify();
        const bool can_send =
            more_rx && (host_.has_packet() || (job_ != nullptr && job_->next(1).has_value()));
        if (!more_tx && !can_send) return {};
        tx.disable_notify();
        rx.disable_notify();
    }
    tx.enable_notify();
    rx.enable_notify();
    return {};
}

bool Pump::take_tx() {
    GuestQueue& tx = backend_.queue(kTxQueue);
    std::size_t taken = 0;
    Chain chain;
    while (taken < kTxAtOnce && tx.pop(chain) == GuestQueue::Pop::chain) {
        ++taken;
        ++counts_.tx_packets;
        std::array<std::byte, kHeaderBytes> wire{};
        if (gather(chain, 0, wire.data(), wire.size()) != wire.size() ||
            chain.readable_bytes > kHeaderBytes + kMaxPacket) {
            ++counts_.complaints;
        } else {
            const Header header = engine::decode(wire.data());
            const std::size_t size = chain.readable_bytes - kHeaderBytes;
            gather(chain, kHeaderBytes, scratch_.data(), size);
            if (!host_.receive(header, std::span(scratch_.data(), size)).empty()) {
                ++counts_.complaints;
            }
        }
        tx.put(chain.head, 0);
    }
    if (taken == 0) return false;
    tx.publish();
    if (tx.signal_needed()) backend_.call(kTxQueue);
    return true;
}

bool Pump::next_rx(Chain& chain) {
    GuestQueue& rx = backend_.queue(kRxQueue);
    // A guest that posts nothing else must not hold us here.
    for (std::size_t tries = 0; tries < GuestQueue::kMaxSize; ++tries) {
        if (rx.pop(chain) != GuestQueue::Pop::chain) return false;
        if (chain.writable_bytes > kHeaderBytes && chain.readable == 0) return true;
        ++counts_.complaints;  // no buffer for a packet: given back empty
        rx.put(chain.head, 0);
        rx.publish();
    }
    return false;
}

void Pump::put_rx(const Chain& chain, const Header& header, const Piece& piece) {
    GuestQueue& rx = backend_.queue(kRxQueue);
    std::array<std::byte, kHeaderBytes> wire{};
    engine::encode(header, wire.data());
    scatter(chain, 0, wire.data(), wire.size());
    if (piece.size != 0) scatter(chain, kHeaderBytes, piece.data, piece.size);
    rx.put(chain.head, static_cast<std::uint32_t>(kHeaderBytes) + piece.size);
    if (policy_.publication == Publication::per_buffer) {
        rx.publish();
        ++counts_.publications;
    }
    ++counts_.rx_packets;
    counts_.rx_bytes += piece.size;
}

bool Pump::send_burst() {
    GuestQueue& rx = backend_.queue(kRxQueue);
    if (policy_.gap_ns != 0 && monotonic_ns() < next_burst_ns_) {
        return job_ != nullptr;  // busy, on purpose: a sleep is far longer than a gap
    }
    std::uint32_t packets = 0;
    std::uint64_t now = 0;
    Chain chain;
    while (packets < policy_.burst) {
        const bool control = host_.has_packet();
        if (!control && (job_ == nullptr || job_->done() || !job_->next(1))) break;
        if (!next_rx(chain)) {
            ++counts_.starved;
            break;
        }
        if (control) {
            put_rx(chain, host_.take_packet(), {});
        } else {
            const auto room = static_cast<std::uint32_t>(
                std::min<std::uint64_t>(chain.writable_bytes - kHeaderBytes, kMaxPacket));
            const std::optional<Piece> piece = job_->next(room);
            if (now == 0 || packets + 1 == policy_.burst) now = monotonic_ns();
            put_rx(chain, host_.data_header(*piece->stream, piece->size), *piece);
            job_->sent(*piece, now);
        }
        ++packets;
    }
    if (packets == 0) return false;
    ++counts_.bursts;
    if (policy_.publication == Publication::batched) {
        rx.publish();
        ++counts_.publications;
    }
    if (rx.signal_needed()) {
        backend_.call(kRxQueue);
        ++counts_.signals;
    }
    if (policy_.gap_ns != 0) next_burst_ns_ = monotonic_ns() + policy_.gap_ns;
    return true;
}

}  // namespace vsb::guest
