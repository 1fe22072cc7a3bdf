#include "receivers/receive_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>

#include "transport/descriptor.h"
#include "transport/errors.h"
#include "transport/testing/faulty_calls.h"

namespace vsb::receivers {
namespace {

using ::testing::HasSubstr;
using transport::testing::FaultyCalls;

constexpr Mode kModes[] = {Mode::recv, Mode::poll, Mode::epoll, Mode::waitall};

// A stream that is all there before the loop starts: `bytes` of the payload, then its end.
class Bench {
  public:
    explicit Bench(std::size_t bytes, int type = SOCK_STREAM, std::size_t message = 0) {
        int fds[2];
        EXPECT_EQ(::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds), 0);
        near_ = transport::Descriptor(transport::system_calls(), fds[0]);
        const transport::Descriptor far(transport::system_calls(), fds[1]);
        if (message == 0) message = bytes;
        for (std::size_t at = 0; at < bytes; at += message) {
            EXPECT_EQ(::send(far.get(), payload_.at(at), message, 0),
                      static_cast<ssize_t>(message));
        }
    }
    ReceiveJob job() {
        ReceiveJob job;
        job.fd = near_.get();
        job.peer = "the peer";
        job.recv_bytes = 100;
        job.expected = &payload_;
        return job;
    }
    ReceiveTally operator()(transport::Calls& calls, const ReceiveJob& job) {
        const transport::Attend attend(progress, nullptr);
        return receive_loop(calls, job, progress, attend);
    }
    transport::Progress progress;

  private:
    transport::Payload payload_{1, 65536};
    transport::Descriptor near_;
};

TEST(ReceiveLoop, CountsWhatItRead) {
    for (const Mode mode : kModes) {
        Bench bench(1050);
        ReceiveJob job = bench.job();
        job.mode = mode;
        const ReceiveTally tally = bench(transport::system_calls(), job);
        EXPECT_EQ(tally.bytes, 1050u);
        EXPECT_EQ(tally.recvs, 12u) << "the final 0 included";
        EXPECT_TRUE(tally.at_end);
        EXPECT_EQ(format_sizes(tally.sizes), "32:1,64:10");
        EXPECT_EQ(tally.wakeups, mode == Mode::poll || mode == Mode::epoll ? 12u : 0u);
        EXPECT_LE(tally.first_ns, tally.last_ns);
        EXPECT_LE(tally.last_ns, tally.end_ns);
    }
}

TEST(ReceiveLoop, ReadsTheClockOnlyAroundAKnownTransfer) {
    Bench bench(1000);
    FaultyCalls calls;
    std::uint64_t reads = 0;
    calls.clock = [&] { return ++reads; };
    ReceiveJob job = bench.job();
    job.planned = 1000;
    const ReceiveTally tally = bench(calls, job);
    EXPECT_EQ(reads, 3u) << "first byte, last byte, end";
    EXPECT_EQ(tally.first_ns, 1u);
    EXPECT_EQ(tally.last_ns, 2u);
    Bench unknown(1000);
    job = unknown.job();
    reads = 0;
    EXPECT_EQ(unknown(calls, job).last_ns, 11u) << "unknown: after each recv()";
}

TEST(ReceiveLoop, StopsWhereTheWarmUpEnds) {
    Bench bench(1000);
    ReceiveJob job = bench.job();
    job.stop_at = 250;
    EXPECT_EQ(bench(transport::system_calls(), job).bytes, 250u);
    job.stop_at = 0;
    job.offset = 250;
    EXPECT_EQ(bench(transport::system_calls(), job).bytes, 750u);
}

TEST(ReceiveLoop, SurvivesInterruptionsAndShortCountsAtEveryCall) {
    for (const Mode mode : {Mode::recv, Mode::poll, Mode::waitall}) {
        for (unsigned at = 0; at < 11; ++at) {
            for (const FaultyCalls::Fault& fault :
                 {FaultyCalls::Fault{.call = "recv", .at = at, .error = EINTR},
                  FaultyCalls::Fault{.call = "recv", .at = at, .error = EAGAIN},
                  FaultyCalls::Fault{.call = "poll", .at = at, .error = EINTR},
                  FaultyCalls::Fault{.call = "recv", .at = at, .most = 1},
                  FaultyCalls::Fault{.call = "recv", .at = at, .most = 33, .always = true}}) {
                Bench bench(1000);
                FaultyCalls calls(fault);
                ReceiveJob job = bench.job();
                job.mode = mode;
                const ReceiveTally tally = bench(calls, job);
                EXPECT_EQ(tally.bytes, 1000u) << fault.call << at;
                EXPECT_TRUE(tally.at_end);
            }
        }
    }
}

TEST(ReceiveLoop, ErrorsNameThePeerAtEveryCall) {
    for (unsigned at = 0; at < 11; ++at) {
        for (const int error : {ECONNRESET, ENOTCONN}) {
            Bench bench(1000);
            FaultyCalls calls({.call = "recv", .at = at, .error = error});
            try {
                bench(calls, bench.job());
                ADD_FAILURE() << at;
            } catch (const std::system_error& caught) {
                EXPECT_EQ(caught.code().value(), error);
                EXPECT_THAT(caught.what(), HasSubstr("receiving from the peer"));
            }
        }
    }
}

TEST(ReceiveLoop, AnEarlyEndIsSeenInTheCount) {
    Bench bench(1000);
    FaultyCalls calls({.call = "recv", .at = 4, .end = true});
    EXPECT_EQ(bench(calls, bench.job()).bytes, 400u);
}

TEST(ReceiveLoop, AChangedByteIsAFailure) {
    for (unsigned at = 0; at < 10; ++at) {
        Bench bench(1000);
        FaultyCalls calls({.call = "recv", .at = at, .flip = true});
        try {
            bench(calls, bench.job());
            ADD_FAILURE() << at;
        } catch (const transport::Failure& caught) {
            EXPECT_EQ(
                std::string(caught.what()),
                "byte " + std::to_string(at * 100) + " from the peer is not the one that was sent");
        }
    }
}

TEST(ReceiveLoop, AMessageThatDoesNotFitIsAFailure) {
    Bench fits(1000, SOCK_SEQPACKET, 100);
    ReceiveJob job = fits.job();
    job.messages = true;
    EXPECT_EQ(fits(transport::system_calls(), job).recvs, 11u);
    Bench cut(1000, SOCK_SEQPACKET, 200);
    job = cut.job();
    job.messages = true;
    try {
        cut(transport::system_calls(), job);
        FAIL();
    } catch (const transport::Failure& caught) {
        EXPECT_THAT(caught.what(), HasSubstr("a message of 200 bytes from the peer does not fit"));
    }
}

TEST(ReceiveLoop, LeavesWhenToldTo) {
    Bench bench(1000);
    bench.progress.attention = transport::Attention::stop;
    const ReceiveTally tally = bench(transport::system_calls(), bench.job());
    EXPECT_EQ(tally.recvs, 1u);
    EXPECT_FALSE(tally.at_end);
}

TEST(FormatSizes, NamesTheLowerBounds) {
    std::array<std::uint64_t, 64> sizes{};
    EXPECT_EQ(format_sizes(sizes), "");
    sizes[0] = 3;
    sizes[16] = 5;
    EXPECT_EQ(format_sizes(sizes), "1:3,65536:5");
}

}  // namespace
}  // namespace vsb::receivers
