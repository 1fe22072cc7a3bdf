#include "engine/vsock/host_program.h"

#include <cstring>

#include "engine/sync/clock.h"
#include "engine/sync/virtual_time.h"

namespace vsb::engine {

std::uint64_t Sender::next_write() noexcept {
    if (left_ == 0) return 0;
    --left_;
    pay(Cost::system_call);
    return payload_;
}

void Sender::put(std::byte* to, std::uint32_t n) noexcept {
    std::memcpy(to, cursor_.bytes(), n);
    cursor_.advance(n);
}

PingPong::PingPong(const Pattern& pattern, std::uint64_t payload, std::uint64_t warmup,
                   std::uint64_t requests)
    : sent_(pattern), echoed_(pattern), payload_(payload), warmup_(warmup), requests_(requests) {
    samples_.reserve(requests);
}

std::uint64_t PingPong::next_write() noexcept {
    if (echo_left_ != 0 || finished()) return 0;
    echo_left_ = payload_;
    started_ns_ = now_ns();
    pay(Cost::system_call);
    return payload_;
}

void PingPong::put(std::byte* to, std::uint32_t n) noexcept {
    std::memcpy(to, sent_.bytes(), n);
    sent_.advance(n);
}

void PingPong::got(const std::byte* from, std::uint32_t n) noexcept {
    if (n > echo_left_) {  // more than was sent
        matches_ = false;
        return;
    }
    echo_left_ -= n;
    const std::uint64_t now = echo_left_ == 0 ? now_ns() : 0;
    pay(Cost::compare_byte, n);  // after the sample's end, as in a measured run
    if (!echoed_.matches(from, n)) matches_ = false;
    if (echo_left_ != 0) return;
    if (done_ >= warmup_) samples_.push_back(now - started_ns_);
    ++done_;
}

}  // namespace vsb::engine
