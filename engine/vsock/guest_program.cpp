#include "engine/vsock/guest_program.h"

#include <algorithm>
#include <cstring>

#include "engine/sync/clock.h"
#include "engine/sync/virtual_time.h"

namespace vsb::engine {

GuestProgram::GuestProgram(ReceiveContext& ctx, Socket& sk, const Pattern& pattern,
                           const Plan& plan)
    : ctx_(ctx),
      sk_(sk),
      cursor_(pattern, plan.pattern_start),
      plan_(plan),
      buffer_(plan.recv_bytes),
      request_(plan.echo_bytes) {}

GuestProgram::~GuestProgram() {
    if (closed_) return;
    Current nobody;
    sk_.put(nobody);
}

void GuestProgram::run(Current& me) noexcept {
    first_recv_ns_ = now_ns();
    while (matches_) {
        const Received got = recv_stream(ctx_, sk_, buffer_.data(), plan_.recv_bytes, false, me);
        if (got.status == RecvStatus::end_of_stream) ended_ = true;
        if (got.status != RecvStatus::data) break;
        take(buffer_.data(), got.bytes, me);
    }
    end_ns_ = now_ns();
    closed_ = true;
    close(ctx_, sk_, me);
}

void GuestProgram::take(const std::byte* bytes, std::uint32_t size, Current& me) noexcept {
    if (received_ + size == plan_.total_bytes) last_byte_ns_ = now_ns();
    pay(Cost::compare_byte, size);
    if (matches_ && !cursor_.matches(bytes, size)) {
        matches_ = false;
        mismatch_at_ = received_;
    }
    received_ += size;
    while (plan_.echo_bytes != 0 && size != 0 && matches_) {
        const auto n = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(size, plan_.echo_bytes - request_bytes_));
        std::memcpy(request_.data() + request_bytes_, bytes, n);
        request_bytes_ += n;
        bytes += n;
        size -= n;
        if (request_bytes_ != plan_.echo_bytes) continue;
        request_bytes_ = 0;
        if (!send_all(ctx_, sk_, request_.data(), plan_.echo_bytes, me)) return;
    }
}

}  // namespace vsb::engine
