#include "engine/dgram_sendmsg/receive_queue.h"

#include <mutex>
#include <new>

namespace vsb::engine::dgram_sendmsg {

void FreeDatagram::operator()(Datagram* datagram) const noexcept {
    ::operator delete(datagram);
}

DatagramPtr allocate_datagram(std::uint32_t length) noexcept {
    void* const memory = ::operator new(sizeof(Datagram) + length, std::nothrow);
    if (memory == nullptr) return nullptr;
    DatagramPtr datagram(new (memory) Datagram{});
    datagram->length = length;
    return datagram;
}

ReceiveQueue::~ReceiveQueue() {
    for (Datagram* datagram = take_all(); datagram != nullptr;) {
        datagram = DatagramPtr(datagram)->next;
    }
}

void ReceiveQueue::push(DatagramPtr datagram) noexcept {
    Datagram* const added = datagram.release();
    const std::lock_guard hold(lock_);
    (last_ != nullptr ? last_->next : first_) = added;
    last_ = added;
    length_.fetch_add(1, std::memory_order_seq_cst);
}

Datagram* ReceiveQueue::take_all() noexcept {
    const std::lock_guard hold(lock_);
    Datagram* const all = first_;
    first_ = last_ = nullptr;
    length_.store(0, std::memory_order_seq_cst);
    return all;
}

}  // namespace vsb::engine::dgram_sendmsg
