#include "engine/vsock/transmit_path.h"

#include <cstring>
#include <mutex>
#include <new>

#include "engine/sync/clock.h"
#include "engine/sync/virtual_time.h"

namespace vsb::engine {
namespace {

constexpr std::uint32_t kSmallBytes = 256;

void destroy(TransmitPath::Packet* packet) noexcept {
    while (packet != nullptr) {
        TransmitPath::Packet* next = packet->next;
        ::operator delete(packet->bytes);
        delete packet;
        packet = next;
    }
}

}  // namespace

TransmitPath::TransmitPath(Vring ring, Doorbell& kick, std::uint64_t kick_cost_ns,
                           std::uint16_t first_index)
    : ring_size_(ring.size), kick_(kick), kick_cost_ns_(kick_cost_ns), queue_(ring, first_index) {
    queue_.disable_cb();  // completions are looked at when the next packet is added
}

TransmitPath::~TransmitPath() {
    // Packets still in the ring are the driver's again once the device is gone.
    queue_.for_each_outstanding([](void* token) {
        auto* packet = static_cast<Packet*>(token);
        packet->next = nullptr;
        destroy(packet);
    });
    destroy(free_small_);
    destroy(free_large_);
    destroy(pending_first_);
}

TransmitPath::Packet* TransmitPath::make(std::uint32_t len) noexcept {
    const bool large = len > kSmallBytes;
    Packet*& list = large ? free_large_ : free_small_;
    if (list != nullptr) {
        Packet* packet = list;
        list = packet->next;
        packet->next = nullptr;
        return packet;
    }
    void* bytes = ::operator new (large ? kMaxPayload + kHeaderBytes : std::size_t{kSmallBytes},
                                  std::nothrow);
    if (bytes == nullptr) return nullptr;
    auto* packet = new (std::nothrow) Packet;
    if (packet == nullptr) {
        ::operator delete(bytes);
        return nullptr;
    }
    packet->bytes = static_cast<std::byte*>(bytes);
    packet->large = large;
    return packet;
}

void TransmitPath::reclaim() noexcept {
    std::uint32_t written = 0;
    while (auto* packet = static_cast<Packet*>(queue_.get_buf(written))) {
        if (packet->is_reply) queued_replies_.fetch_sub(1, std::memory_order_seq_cst);
        Packet*& list = packet->large ? free_large_ : free_small_;
        packet->next = list;
        list = packet;
    }
}

// Moves what is waiting into the ring; true if the device wants to hear of it.
bool TransmitPath::flush(Current& me) noexcept {
    static_cast<void>(me);
    while (pending_first_ != nullptr) {
        Packet& packet = *pending_first_;
        if (!queue_.add(&packet, packet.bytes, packet.len, false)) break;
        pending_first_ = packet.next;
        if (pending_first_ == nullptr) pending_last_ = nullptr;
    }
    return queue_.kick_prepare();
}

void TransmitPath::kick(bool wanted, Current& me) noexcept {
    if (!wanted) return;
    ++me.counts.kicks;
    charge(kick_cost_ns_);
    spend(Cost::kick);
    me.count(kick_.ring());
}

bool TransmitPath::send(const Header& header, const std::byte* payload, bool is_reply,
                        Current& me) noexcept {
    bool wanted = false;
    pay(Cost::copy_byte, header.len);
    spend(Cost::packet);
    {
        const std::scoped_lock lock(lock_);
        reclaim();
        Packet* packet = make(header.len + static_cast<std::uint32_t>(kHeaderBytes));
        if (packet == nullptr) return false;
        encode(header, packet->bytes);
        if (header.len != 0) std::memcpy(packet->bytes + kHeaderBytes, payload, header.len);
        packet->len = header.len + static_cast<std::uint32_t>(kHeaderBytes);
        packet->is_reply = is_reply;
        if (is_reply) queued_replies_.fetch_add(1, std::memory_order_seq_cst);
        (pending_last_ != nullptr ? pending_last_->next : pending_first_) = packet;
        pending_last_ = packet;
        wanted = flush(me);
    }
    kick(wanted, me);
    return true;
}

void TransmitPath::done(Current& me) noexcept {
    bool wanted = false;
    {
        const std::scoped_lock lock(lock_);
        reclaim();
        wanted = flush(me);
    }
    kick(wanted, me);
}

}  // namespace vsb::engine
