#include "engine/vhost_vsock_used/send_queue.h"

#include <algorithm>
#include <cstring>

#include "engine/sync/virtual_time.h"

namespace vsb::engine::vhost_vsock_used {

SendQueue::SendQueue(std::size_t packets, std::uint64_t writes, std::uint64_t payload,
                     const trial::Pattern& pattern)
    : ring_(packets), writes_(writes), payload_(payload), pattern_(pattern) {
    for (auto& packet : ring_)
        packet.bytes.resize(std::min(payload, kMaxPacketBytes));
}

void SendQueue::fill() noexcept {
    while (last_ - first_ < ring_.size() && !all_written()) {
        HostPacket& packet = at(last_++);
        const std::uint64_t length = std::min(payload_ - offset_, kMaxPacketBytes);
        std::memcpy(packet.bytes.data(), pattern_.of(writes_done_) + offset_, length);
        packet.length = static_cast<std::uint32_t>(length);
        pay(Cost::copy_byte, length);
        if (offset_ == 0) pay(Cost::system_call);
        packet.offset = 0;
        bytes_ += length;
        offset_ += length;
        if (offset_ == payload_) {
            offset_ = 0;
            ++writes_done_;
        }
    }
}

}  // namespace vsb::engine::vhost_vsock_used
