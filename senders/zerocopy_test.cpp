#include "senders/zerocopy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <linux/errqueue.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <system_error>

#include "transport/errors.h"

namespace vsb::senders {
namespace {

using ::testing::HasSubstr;

// A socket whose error queue holds what the test put there.
class FakeQueue : public transport::Calls {
  public:
    struct Report {
        int level = SOL_IP, type = IP_RECVERR;
        std::uint8_t origin = SO_EE_ORIGIN_ZEROCOPY;
        std::uint8_t code = 0;
        std::uint32_t low = 0, high = 0, error = 0;
    };
    std::deque<Report> queue;
    int option_error = 0;
    int interruptions = 0;
    std::uint64_t now = 0;

    int setsockopt(int, int level, int name, const void*, socklen_t) override {
        EXPECT_EQ(level, SOL_SOCKET);
        EXPECT_EQ(name, SO_ZEROCOPY);
        errno = option_error;
        return option_error == 0 ? 0 : -1;
    }
    ssize_t recvmsg(int, msghdr* message, int flags) override {
        EXPECT_EQ(flags, MSG_ERRQUEUE | MSG_DONTWAIT);
        if (interruptions-- > 0) return errno = EINTR, -1;
        if (queue.empty()) return errno = EAGAIN, -1;
        const Report report = queue.front();
        queue.pop_front();
        sock_extended_err error{};
        error.ee_origin = report.origin;
        error.ee_code = report.code;
        error.ee_info = report.low;
        error.ee_data = report.high;
        error.ee_errno = report.error;
        cmsghdr* header = CMSG_FIRSTHDR(message);
        header->cmsg_level = report.level;
        header->cmsg_type = report.type;
        header->cmsg_len = CMSG_LEN(sizeof error);
        std::memcpy(CMSG_DATA(header), &error, sizeof error);
        message->msg_controllen = CMSG_SPACE(sizeof error);
        return 0;
    }
    int poll(pollfd*, nfds_t, int) override {
        now += 50000000;
        return 0;
    }
    std::uint64_t now_ns() override { return now; }
};

TEST(Zerocopy, CountsRangesFromTcpAndFromVsock) {
    FakeQueue calls;
    calls.queue = {
        {.low = 0, .high = 9},
        {.level = 287, .type = 1, .code = SO_EE_CODE_ZEROCOPY_COPIED, .low = 10, .high = 10}};
    calls.interruptions = 2;
    Zerocopy zerocopy(calls, 3, "the peer");
    zerocopy.await(11, 1);
    EXPECT_EQ(zerocopy.completed(), 11u);
    EXPECT_EQ(zerocopy.copied(), 1u);
}

TEST(Zerocopy, AMissingCompletionIsAFailure) {
    FakeQueue calls;
    calls.queue = {{.low = 0, .high = 3}};
    Zerocopy zerocopy(calls, 3, "the peer");
    try {
        zerocopy.await(5, 1000000000);
        FAIL();
    } catch (const transport::Failure& error) {
        EXPECT_THAT(error.what(), HasSubstr("only 4 of 5 zero-copy sends to the peer"));
    }
}

TEST(Zerocopy, OneTooManyIsAFailure) {
    FakeQueue calls;
    calls.queue = {{.low = 0, .high = 5}};
    Zerocopy zerocopy(calls, 3, "the peer");
    EXPECT_THROW(zerocopy.await(5, 1000000000), transport::Failure);
}

TEST(Zerocopy, AnotherErrorInTheQueueIsThrown) {
    FakeQueue calls;
    calls.queue = {{.origin = SO_EE_ORIGIN_LOCAL, .error = ENETDOWN}};
    Zerocopy zerocopy(calls, 3, "the peer");
    EXPECT_THROW(zerocopy.reap(), std::system_error);
}

TEST(Zerocopy, ASocketWithoutItIsUnavailable) {
    FakeQueue calls;
    calls.option_error = EOPNOTSUPP;
    EXPECT_THROW(Zerocopy(calls, 3, "the peer"), transport::Unavailable);
}

}  // namespace
}  // namespace vsb::senders
