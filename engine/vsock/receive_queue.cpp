#include "engine/vsock/receive_queue.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "engine/sync/virtual_time.h"

namespace vsb::engine {
namespace {

// VIRTIO_VSOCK_MAX_PKT_BUF_SIZE: with less than this left in the peer's view it is told.
constexpr std::uint32_t kMaxPacketBytes = 65536;

void copy_into_tail(Skb& tail, Skb& skb) noexcept {
    const std::uint32_t bytes = skb.unread();
    pay(Cost::copy_byte, bytes);
    if (bytes != 0) std::memcpy(tail.payload() + tail.len, skb.payload() + skb.offset, bytes);
    tail.len += bytes;
    tail.flags |= skb.flags;
}

}  // namespace

ReceiveQueue::ReceiveQueue(SkbPool& pool, std::uint32_t buf_alloc) noexcept
    : pool_(pool), packet_limit_(packet_limit(buf_alloc)), buf_alloc_(buf_alloc) {}

std::uint32_t ReceiveQueue::packet_limit(std::uint32_t buf_alloc) noexcept {
    return std::max(kLeastPackets, buf_alloc / kSkbTruesize);
}

ReceiveQueue::Enqueued ReceiveQueue::enqueue(Skb& skb, bool seqpacket, Current& me) noexcept {
    const std::scoped_lock lock(rx_lock_);
    if (std::uint64_t{buf_used_} + skb.len > buf_alloc_) return Enqueued::refused;
    if (skb.len == 0 && !seqpacket) {
        pool_.free(skb, me);
        return Enqueued::merged;
    }
    // The tail may take it only if the tail's message goes on: EOM delimits SEQPACKET messages.
    if (skb.len <= kGoodCopyLen && last_ != nullptr && skb.len < last_->tailroom() &&
        !(seqpacket && (last_->flags & kSeqEom) != 0)) {
        copy_into_tail(*last_, skb);
        rx_bytes_ += skb.len;
        buf_used_ += skb.len;
        messages_ += seqpacket && (skb.flags & kSeqEom) != 0 ? 1 : 0;
        ++me.counts.merged_packets;
        pool_.free(skb, me);
        return Enqueued::merged;
    }
    if (packets_ >= packet_limit_) {
        collapse(me);
        if (packets_ >= packet_limit_) return Enqueued::refused;
    }
    rx_bytes_ += skb.len;
    buf_used_ += skb.len;
    messages_ += seqpacket && (skb.flags & kSeqEom) != 0 ? 1 : 0;
    append(skb);
    return Enqueued::queued;
}

bool ReceiveQueue::has_room(std::uint32_t len) noexcept {
    const std::scoped_lock lock(rx_lock_);
    return std::uint64_t{buf_used_} + len <= buf_alloc_ && packets_ < packet_limit_;
}

void ReceiveQueue::append(Skb& skb) noexcept {
    skb.next = nullptr;
    (last_ != nullptr ? last_->next : first_) = &skb;
    last_ = &skb;
    ++packets_;
}

// Copies neighbours together into large buffers (in kind with tcp_collapse), never across the end
// of a message. Bytes, order and boundaries stay.
void ReceiveQueue::collapse(Current& me) noexcept {
    ++me.counts.collapses;
    Skb* rest = first_;
    first_ = last_ = nullptr;
    packets_ = 0;
    while (rest != nullptr) {
        Skb& skb = *rest;
        rest = rest->next;
        const bool joins = last_ != nullptr && (last_->flags & kSeqEom) == 0;
        if (joins && last_->from_heap && skb.unread() <= last_->tailroom()) {
            copy_into_tail(*last_, skb);
            ++me.counts.collapsed_packets;
            pool_.free(skb, me);
            continue;
        }
        // Open a large buffer only where at least one neighbour can join.
        const bool worth = !skb.from_heap && rest != nullptr && (skb.flags & kSeqEom) == 0;
        Skb* large = worth ? SkbPool::make_large(kCollapsedBytes) : nullptr;
        if (large == nullptr) {
            append(skb);
            continue;
        }
        copy_into_tail(*large, skb);
        pool_.free(skb, me);
        append(*large);
    }
}

void ReceiveQueue::unlink_first(Current& me) noexcept {
    Skb& skb = *first_;
    first_ = skb.next;
    if (first_ == nullptr) last_ = nullptr;
    --packets_;
    pool_.free(skb, me);
}

ReceiveQueue::Dequeued ReceiveQueue::dequeue_stream(std::byte* to, std::uint32_t size,
                                                    std::uint32_t rcvlowat, Current& me) noexcept {
    Dequeued out;
    std::unique_lock lock(rx_lock_);
    while (out.bytes < size && first_ != nullptr) {
        Skb& skb = *first_;
        const std::uint32_t n = std::min(size - out.bytes, skb.unread());
        // As the kernel: the copy to the user runs without rx_lock; the socket lock keeps others
        // from merging into, or collapsing, this packet.
        lock.unlock();
        std::memcpy(to + out.bytes, skb.payload() + skb.offset, n);
        spend(Cost::copy_byte, n);
        lock.lock();
        out.bytes += n;
        skb.offset += n;
        rx_bytes_ -= n;
        buf_used_ -= n;
        forward(n);
        if (skb.unread() == 0) unlink_first(me);
    }
    out.update_credit = peer_is_short(rcvlowat);
    return out;
}

ReceiveQueue::Dequeued ReceiveQueue::dequeue_message(std::byte* to, std::uint32_t size,
                                                     Current& me) noexcept {
    Dequeued out;
    std::unique_lock lock(rx_lock_);
    if (messages_ == 0) return out;
    while (first_ != nullptr && !out.message) {
        Skb& skb = *first_;
        const std::uint32_t n = std::min(size - out.bytes, skb.len);
        lock.unlock();
        if (n != 0) std::memcpy(to + out.bytes, skb.payload(), n);
        spend(Cost::copy_byte, n);
        lock.lock();
        out.bytes += n;
        out.message_bytes += skb.len;
        rx_bytes_ -= skb.len;
        buf_used_ -= skb.len;
        forward(skb.len);
        if ((skb.flags & kSeqEom) != 0) {
            out.message = true;
            out.end_of_record = (skb.flags & kSeqEor) != 0;
            --messages_;
        }
        unlink_first(me);
    }
    out.update_credit = fwd_cnt_.load() != last_fwd_cnt_.load();
    return out;
}

// No read-modify-write: there is one writer at a time.
void ReceiveQueue::forward(std::uint32_t bytes) noexcept {
    fwd_cnt_.store(fwd_cnt_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
}

bool ReceiveQueue::peer_is_short(std::uint32_t rcvlowat) const noexcept {
    const std::uint32_t untold =
        fwd_cnt_.load(std::memory_order_relaxed) - last_fwd_cnt_.load(std::memory_order_relaxed);
    if (untold == 0) return false;
    return buf_alloc_ - untold < kMaxPacketBytes || rx_bytes_ < rcvlowat;
}

bool ReceiveQueue::bypass(std::uint32_t bytes) noexcept {
    forward(bytes);
    return peer_is_short(0);
}

std::uint32_t ReceiveQueue::bytes() noexcept {
    const std::scoped_lock lock(rx_lock_);
    return rx_bytes_;
}

std::uint32_t ReceiveQueue::messages() noexcept {
    const std::scoped_lock lock(rx_lock_);
    return messages_;
}

std::uint32_t ReceiveQueue::buf_used() noexcept {
    const std::scoped_lock lock(rx_lock_);
    return buf_used_;
}

std::uint32_t ReceiveQueue::packets() noexcept {
    const std::scoped_lock lock(rx_lock_);
    return packets_;
}

std::uint32_t ReceiveQueue::tell_fwd_cnt() noexcept {
    const std::scoped_lock lock(rx_lock_);
    const std::uint32_t told = fwd_cnt_.load(std::memory_order_relaxed);
    last_fwd_cnt_.store(told, std::memory_order_relaxed);
    return told;
}

void ReceiveQueue::purge(Current& me) noexcept {
    const std::scoped_lock lock(rx_lock_);
    while (first_ != nullptr)
        unlink_first(me);
    rx_bytes_ = buf_used_ = messages_ = 0;
}

}  // namespace vsb::engine
