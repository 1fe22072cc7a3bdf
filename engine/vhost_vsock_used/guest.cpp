#include "engine/vhost_vsock_used/guest.h"

#include <algorithm>
#include <cstring>

#include "engine/sync/clock.h"
#include "engine/sync/spinlock.h"
#include "engine/sync/virtual_time.h"
#include "engine/vhost_vsock_used/send_queue.h"
#include "engine/vsock/header.h"

namespace vsb::engine::vhost_vsock_used {

Guest::Guest(DriverQueue& driver, std::size_t buffers, std::size_t buffer_bytes,
             const Stream& stream, const trial::Pattern& pattern, Doorbell& kick)
    : driver_(driver),
      buffer_bytes_(buffer_bytes),
      stream_(stream),
      pattern_(pattern),
      kick_(kick),
      memory_(buffers * buffer_bytes),
      posted_(buffers),
      all_(buffers) {
    taken_.reserve(buffers);
    for (std::size_t i = 0; i < buffers; ++i) {
        std::byte* const buffer = memory_.data() + i * buffer_bytes;
        driver_.add(buffer, buffer, static_cast<std::uint32_t>(buffer_bytes), true);
    }
}

std::string Guest::check(const std::byte* buffer, std::uint32_t used) {
    const auto name = [&] { return "buffer " + std::to_string(counts_.buffers); };
    if (complete()) return name() + " is one too many";
    // What is left of the write's current packet, as much as the buffer holds.
    const std::uint64_t in_packet = kMaxPacketBytes - offset_ % kMaxPacketBytes;
    const std::uint64_t due = std::min(
        {stream_.payload - offset_, in_packet, std::uint64_t{buffer_bytes_ - kHeaderBytes}});
    if (used != due + kHeaderBytes) {
        return name() + " was used with length " + std::to_string(used) + ", not " +
               std::to_string(due + kHeaderBytes);
    }
    const Header header = decode(buffer);
    if (header.len != due || header.op != Op::rw) {
        return name() + " has a header that says " + std::to_string(header.len) + " bytes, not " +
               std::to_string(due);
    }
    pay(Cost::compare_byte, due);
    if (std::memcmp(buffer + kHeaderBytes, pattern_.of(write_) + offset_, due) != 0) {
        return name() + " does not hold the bytes that were sent";
    }
    offset_ += due;
    if (offset_ == stream_.payload) {
        offset_ = 0;
        ++write_;
    }
    ++counts_.buffers;
    counts_.bytes += due;
    return {};
}

void Guest::refill(bool notifies) {
    spend(Cost::post_buffer, taken_.size());
    for (std::byte* const buffer : taken_) {
        driver_.add(buffer, buffer, static_cast<std::uint32_t>(buffer_bytes_), true);
    }
    posted_ += taken_.size();
    taken_.clear();
    ++counts_.refills;
    if (notifies && driver_.kick_prepare()) {
        ++counts_.kicks;
        spend(Cost::kick);
        counts_.wake_system_calls += kick_.ring().system_calls;
    }
}

std::string Guest::run(bool notifies) {
    ++counts_.runs;
    do {
        driver_.disable_cb();
        std::uint32_t used = 0;
        while (void* const token = driver_.get_buf(used)) {
            spend(Cost::packet);
            if (counts_.buffers == 0) counts_.first_ns = now_ns();
            auto* const buffer = static_cast<std::byte*>(token);
            taken_.push_back(buffer);
            --posted_;
            if (std::string wrong = check(buffer, used); !wrong.empty()) return wrong;
        }
        if (driver_.bad_ids() != 0) return "the used ring named a buffer that was not posted";
    } while (notifies && !driver_.enable_cb());
    // Not before the ring is drained: so the worker, out of buffers, sleeps while the guest works.
    if (posted_ < all_ / 2 || posted_ == 0) refill(notifies);
    return {};
}

void Guest::receive_all(bool notifies, Doorbell& signal, Task& task, trial::Trial& trial) {
    for (int looks = 0; !trial.ended();) {
        const std::uint64_t before = counts_.buffers;
        if (const std::string wrong = run(notifies); !wrong.empty()) {
            trial.fail(wrong);
            break;
        }
        if (complete()) break;
        if (notifies) {
            counts_.sleeps += signal.wait(task) ? 1 : 0;
        } else {
            cpu_relax();
            looks = counts_.buffers == before ? looks + 1 : 0;
            if (looks > 1000) yield_cpu();
        }
    }
    counts_.last_ns = now_ns();
}

}  // namespace vsb::engine::vhost_vsock_used
