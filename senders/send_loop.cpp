#include "senders/send_loop.h"

#include <algorithm>
#include <cerrno>

#include "transport/errors.h"
#include "transport/survive.h"

namespace vsb::senders {
namespace {

using transport::Attention;
using transport::Payload;

void recover(transport::Calls& calls, const SendJob& job, int error) {
    if (error == ENOBUFS && job.zerocopy != nullptr) {
        job.zerocopy->wait_for_some();  // completions hold the socket's option memory
    } else {
        transport::survive(calls, job.fd, error, POLLOUT, "sending to", job.peer);
    }
}

// kTimed: the clock is read once a call, each reading ending one call and starting the next, so
// that the loop's own few instructions count as send().
template <bool kTimed>
SendTally loop(transport::Calls& calls, const Payload& payload, const SendJob& job,
               transport::Progress& progress, const transport::Attend& attend) {
    SendTally tally;
    const int flags = MSG_NOSIGNAL | (job.zerocopy != nullptr ? MSG_ZEROCOPY : 0);
    std::size_t phase = job.offset % Payload::kPeriod;
    std::uint64_t left = job.goal_bytes;
    std::uint64_t last = calls.now_ns();
    tally.first_ns = last;
    while (left > 0) {
        const std::size_t wanted = std::min(job.write_bytes, left);
        const ssize_t n = calls.send(job.fd, payload.at_phase(phase), wanted, flags);
        if (n > 0) [[likely]] {
            const auto taken = static_cast<std::size_t>(n);
            left -= taken;
            ++tally.sends;
            tally.short_sends += taken < wanted;
            tally.bytes += taken;
            phase += taken;
            if (phase >= Payload::kPeriod) phase %= Payload::kPeriod;
            progress.bytes.store(tally.bytes, std::memory_order_relaxed);
        } else if (n == 0) {
            throw transport::Failure("send() to " + job.peer + " took nothing");
        } else {
            recover(calls, job, errno);
        }
        if constexpr (kTimed) {
            const std::uint64_t now = calls.now_ns();
            tally.in_send_ns += now - last;
            last = now;
        }
        if (progress.attention.load(std::memory_order_relaxed) != Attention::none) [[unlikely]] {
            if (!attend()) break;
        }
    }
    tally.last_ns = calls.now_ns();
    return tally;
}

}  // namespace

SendTally send_loop(transport::Calls& calls, const Payload& payload, const SendJob& job,
                    transport::Progress& progress, const transport::Attend& attend) {
    return job.timed ? loop<true>(calls, payload, job, progress, attend)
                     : loop<false>(calls, payload, job, progress, attend);
}

}  // namespace vsb::senders
