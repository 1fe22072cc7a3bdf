#include "engine/vhost_vsock_used/worker.h"

#include <algorithm>
#include <cstring>

#include "engine/sync/clock.h"
#include "engine/sync/spinlock.h"
#include "engine/vsock/header.h"

namespace vsb::engine::vhost_vsock_used {

// Copies what of the packet fits the buffer, behind a header of its own. False: no use for it.
bool Worker::fill(const DeviceQueue::Buffer& buffer, HostPacket& packet) noexcept {
    if (!buffer.device_writes || buffer.len <= kHeaderBytes) return false;
    const std::uint32_t room = buffer.len - static_cast<std::uint32_t>(kHeaderBytes);
    const std::uint32_t length = std::min(packet.length - packet.offset, room);
    Header header;
    header.src_cid = 2;  // VMADDR_CID_HOST
    header.dst_cid = 3;
    header.len = length;
    header.op = Op::rw;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a descriptor's address is a number
    auto* const to = reinterpret_cast<std::byte*>(buffer.addr);
    encode(header, to);
    pay(Cost::device_packet);
    spend(Cost::copy_byte, length);
    std::memcpy(to + kHeaderBytes, packet.bytes.data() + packet.offset, length);
    packet.offset += length;
    publish_.add(buffer.head, length + static_cast<std::uint32_t>(kHeaderBytes));
    run_bytes_ += length + kHeaderBytes;
    ++counts_.buffers;
    return true;
}

// vhost_signal(): an interrupt, unless the guest asked for none.
void Worker::signal() noexcept {
    if (!setup_.notifies) return;
    if (!device_.signal_needed()) {
        ++counts_.signals_suppressed;
        return;
    }
    ++counts_.signals;
    spend(Cost::interrupt);
    counts_.wake_system_calls += guest_.ring().system_calls;
}

Worker::Left Worker::run() noexcept {
    ++counts_.runs;
    run_bytes_ = 0;
    Left left = Left::weight;
    std::uint64_t buffers = 0;
    device_.disable_notify();
    // vhost_exceeds_weight()
    while (buffers < setup_.packet_weight && run_bytes_ < setup_.byte_weight) {
        HostPacket* const packet = queue_.front();
        if (packet == nullptr) {
            publish_.flush(Flush::queue_empty);
            device_.enable_notify();
            left = Left::queue_empty;
            break;
        }
        DeviceQueue::Buffer buffer;
        if (!device_.pop(buffer)) {
            publish_.flush(Flush::no_buffers);
            if (device_.enable_notify()) {
                device_.disable_notify();
                publish_.flush(Flush::look_again);
                continue;
            }
            left = Left::no_buffers;
            break;
        }
        if (!fill(buffer, *packet)) {
            publish_.flush(Flush::error);
            left = Left::error;
            break;
        }
        ++buffers;
        if (packet->offset == packet->length) queue_.pop();
    }
    publish_.flush(Flush::leave);
    if (buffers > 0) signal();
    return left;
}

void Worker::send_all(Doorbell& kick, Task& task, trial::Trial& trial) noexcept {
    while (!trial.ended()) {
        const std::uint64_t before = now_ns();
        queue_.fill();
        counts_.sender_ns += now_ns() - before;
        if (queue_.front() == nullptr) return;
        switch (run()) {
            case Left::error:
                trial.fail("the guest posted a buffer that no packet can be written into");
                return;
            case Left::no_buffers:
                ++counts_.runs_no_buffers;
                if (setup_.notifies) {
                    counts_.sleeps += kick.wait(task) ? 1 : 0;
                    break;
                }
                for (int looks = 0; !device_.more_avail() && !trial.ended(); ++looks) {
                    cpu_relax();
                    if (looks > 1000) yield_cpu();
                }
                break;
            case Left::queue_empty:
                counts_.runs_queue_empty += queue_.all_written() ? 0 : 1;
                break;
            case Left::weight:
                break;
        }
    }
}

}  // namespace vsb::engine::vhost_vsock_used
