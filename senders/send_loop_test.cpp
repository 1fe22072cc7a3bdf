#include "senders/send_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>

#include "transport/descriptor.h"
#include "transport/errors.h"
#include "transport/testing/faulty_calls.h"

namespace vsb::senders {
namespace {

using ::testing::HasSubstr;
using transport::testing::FaultyCalls;

// The far end's buffer takes what a test sends; nobody reads meanwhile.
struct Pair {
    Pair() {
        int fds[2];
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
        near = transport::Descriptor(transport::system_calls(), fds[0]);
        far = transport::Descriptor(transport::system_calls(), fds[1]);
    }
    std::vector<std::byte> received() const {
        std::vector<std::byte> bytes(1 << 20);
        const ssize_t n = ::recv(far.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
        bytes.resize(n < 0 ? 0 : static_cast<std::size_t>(n));
        return bytes;
    }
    transport::Descriptor near, far;
};

struct Bench {
    transport::Progress progress;
    transport::Payload payload{1, 4096};
    Pair pair;

    SendTally operator()(transport::Calls& calls, std::uint64_t goal, std::uint64_t write,
                         bool timed = false) {
        const transport::Attend attend(progress, nullptr);
        SendJob job;
        job.fd = pair.near.get();
        job.peer = "the peer";
        job.write_bytes = write;
        job.goal_bytes = goal;
        job.offset = 5000;
        job.timed = timed;
        return send_loop(calls, payload, job, progress, attend);
    }
};

TEST(SendLoop, SendsThePayloadFromItsOffset) {
    for (const bool timed : {false, true}) {
        Bench run;
        const SendTally tally = run(transport::system_calls(), 10000, 64, timed);
        EXPECT_EQ(tally.bytes, 10000u);
        EXPECT_EQ(tally.sends, 157u);
        EXPECT_EQ(tally.short_sends, 0u);
        EXPECT_EQ(run.progress.bytes, 10000u);
        EXPECT_EQ(tally.in_send_ns > 0, timed);
        EXPECT_LE(tally.in_send_ns, tally.last_ns - tally.first_ns);
        const auto got = run.pair.received();
        ASSERT_EQ(got.size(), 10000u);
        const transport::Payload whole(1, 10000);
        EXPECT_EQ(whole.first_difference(5000, got.data(), got.size()), std::nullopt);
    }
}

TEST(SendLoop, ReadsTheClockTwiceAtAll) {
    Bench run;
    FaultyCalls calls;
    std::uint64_t reads = 0;
    calls.clock = [&] { return ++reads; };
    run(calls, 10000, 100);
    EXPECT_EQ(reads, 2u);
    Bench timed;
    reads = 0;
    timed(calls, 10000, 100, true);
    EXPECT_EQ(reads, 102u) << "once a send when timed";
}

TEST(SendLoop, SurvivesInterruptionsAndShortCountsAtEveryCall) {
    const transport::Payload whole(1, 1000);
    for (unsigned at = 0; at < 10; ++at) {
        for (const FaultyCalls::Fault& fault :
             {FaultyCalls::Fault{.call = "send", .at = at, .error = EINTR},
              FaultyCalls::Fault{.call = "send", .at = at, .error = EAGAIN},
              FaultyCalls::Fault{.call = "send", .at = at, .most = 1},
              FaultyCalls::Fault{.call = "send", .at = at, .most = 99, .always = true}}) {
            Bench run;
            FaultyCalls calls(fault);
            const SendTally tally = run(calls, 1000, 100);
            EXPECT_EQ(tally.bytes, 1000u);
            EXPECT_EQ(tally.short_sends > 0, fault.error == 0);
            EXPECT_GT(calls.count("send"), 10u);
            const auto got = run.pair.received();
            ASSERT_EQ(got.size(), 1000u);
            EXPECT_EQ(whole.first_difference(5000, got.data(), 1000), std::nullopt);
        }
    }
}

TEST(SendLoop, OtherErrorsNameThePeerAtEveryCall) {
    for (unsigned at = 0; at < 10; ++at) {
        for (const int error : {EPIPE, ECONNRESET, EMSGSIZE, ENOBUFS}) {
            Bench run;
            FaultyCalls calls({.call = "send", .at = at, .error = error});
            try {
                run(calls, 1000, 100);
                ADD_FAILURE() << at << " " << error;
            } catch (const std::system_error& caught) {
                EXPECT_EQ(caught.code().value(), error);
                EXPECT_THAT(caught.what(), HasSubstr("sending to the peer"));
            }
        }
    }
}

TEST(SendLoop, ASendThatTakesNothingIsAFailure) {
    Bench run;
    FaultyCalls calls({.call = "send", .at = 1, .most = 0});
    EXPECT_THROW(run(calls, 1000, 100), transport::Failure);
}

TEST(SendLoop, LeavesWhenToldTo) {
    Bench run;
    run.progress.attention = transport::Attention::stop;
    EXPECT_EQ(run(transport::system_calls(), 1000, 100).sends, 1u);
}

}  // namespace
}  // namespace vsb::senders
