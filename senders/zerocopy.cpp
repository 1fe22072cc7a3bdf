#include "senders/zerocopy.h"

#include <netinet/in.h>

#include <linux/errqueue.h>

#include <cerrno>
#include <cstring>

#include "transport/errors.h"

namespace vsb::senders {
namespace {

// linux/vm_sockets.h has these from 6.7 on.
constexpr int kSolVsock = 287;
constexpr int kVsockRecverr = 1;

bool is_error_report(const cmsghdr& header) {
    return (header.cmsg_level == SOL_IP && header.cmsg_type == IP_RECVERR) ||
           (header.cmsg_level == kSolVsock && header.cmsg_type == kVsockRecverr);
}

}  // namespace

Zerocopy::Zerocopy(transport::Calls& calls, int fd, std::string peer)
    : calls_(calls), fd_(fd), peer_(std::move(peer)) {
    const int on = 1;
    if (calls_.setsockopt(fd_, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof on) < 0) {
        throw transport::Unavailable("this kernel has no MSG_ZEROCOPY towards " + peer_ + " (" +
                                     std::strerror(errno) + "); leave out --zerocopy");
    }
}

bool Zerocopy::reap_one() {
    alignas(cmsghdr) char control[256];
    msghdr message{};
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t n = calls_.recvmsg(fd_, &message, MSG_ERRQUEUE | MSG_DONTWAIT);
    if (n < 0) {
        if (errno == EAGAIN) return false;
        if (errno == EINTR) return true;
        transport::throw_errno(errno, "reading the completions of", peer_);
    }
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
         header = CMSG_NXTHDR(&message, header)) {
        if (!is_error_report(*header)) continue;
        sock_extended_err report{};
        std::memcpy(&report, CMSG_DATA(header), sizeof report);
        if (report.ee_origin != SO_EE_ORIGIN_ZEROCOPY) {
            transport::throw_errno(static_cast<int>(report.ee_errno), "sending to", peer_);
        }
        const std::uint64_t count = std::uint64_t{report.ee_data} - report.ee_info + 1;
        completed_ += count;
        if ((report.ee_code & SO_EE_CODE_ZEROCOPY_COPIED) != 0) copied_ += count;
    }
    return true;
}

void Zerocopy::reap() {
    while (reap_one()) {
    }
}

void Zerocopy::wait_for_some() {
    pollfd waiting{fd_, 0, 0};  // POLLERR is always awaited
    if (calls_.poll(&waiting, 1, 50) < 0 && errno != EINTR) {
        transport::throw_errno(errno, "waiting for completions of", peer_);
    }
    reap();
}

void Zerocopy::await(std::uint64_t sends, std::uint64_t deadline_ns) {
    reap();
    while (completed_ < sends) {
        if (calls_.now_ns() >= deadline_ns) {
            throw transport::Failure("only " + std::to_string(completed_) + " of " +
                                     std::to_string(sends) + " zero-copy sends to " + peer_ +
                                     " were completed before the deadline");
        }
        wait_for_some();
    }
    if (completed_ > sends) {
        throw transport::Failure("more zero-copy sends to " + peer_ + " completed than were made");
    }
}

}  // namespace vsb::senders
