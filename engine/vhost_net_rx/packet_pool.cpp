#include "engine/vhost_net_rx/packet_pool.h"

#include <new>

namespace vsb::engine::vhost_net_rx {

Packet* PacketPool::take() noexcept {
    void* const header = headers_.take();
    if (header == nullptr) return nullptr;
    void* const bytes = bytes_.take();
    if (bytes == nullptr) {
        headers_.untake(header);
        return nullptr;
    }
    auto* const packet = new (header) Packet{};
    packet->data = static_cast<std::byte*>(bytes);
    return packet;
}

void PacketPool::untake(Packet* packet) noexcept {
    bytes_.untake(packet->data);
    headers_.untake(packet);
}

// skb_release_data(), then kfree_skbmem().
void PacketPool::put(Packet* packet) noexcept {
    bytes_.put(packet->data);
    headers_.put(packet);
}

}  // namespace vsb::engine::vhost_net_rx
