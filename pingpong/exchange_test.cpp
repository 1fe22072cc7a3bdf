#include "pingpong/exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>
#include <vector>

#include "transport/descriptor.h"
#include "transport/errors.h"
#include "transport/testing/faulty_calls.h"

namespace vsb::pingpong {
namespace {

using ::testing::HasSubstr;
using transport::Kind;
using transport::testing::FaultyCalls;

struct Pair {
    explicit Pair(Kind of) : kind(of) {
        int fds[2];
        const int type = kind == Kind::stream ? SOCK_STREAM : SOCK_SEQPACKET;
        EXPECT_EQ(::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds), 0);
        near = transport::Descriptor(transport::system_calls(), fds[0]);
        far = transport::Descriptor(transport::system_calls(), fds[1]);
    }
    Exchange exchange(transport::Calls& calls, bool busy_poll = false) {
        return {calls, near.get(), kind, busy_poll, "the peer", progress, attend};
    }
    // Sends 100 bytes to ourselves through the far end, as an echo would.
    bool round(transport::Calls& calls, bool busy_poll = false) {
        Exchange one = exchange(calls, busy_poll);
        std::vector<std::byte> sent(100, std::byte{7});
        one.send(sent.data(), sent.size());
        std::vector<std::byte> reply(100);
        EXPECT_EQ(::recv(far.get(), reply.data(), 100, MSG_WAITALL), 100);
        EXPECT_EQ(::send(far.get(), reply.data(), 100, 0), 100);
        std::vector<std::byte> got(100);
        return one.receive(got.data(), got.size()) && got == sent;
    }
    Kind kind;
    transport::Progress progress;
    transport::Attend attend{progress, nullptr};
    transport::Descriptor near, far;
};

TEST(Exchange, SurvivesWhatPassesAtEveryCall) {
    for (const Kind kind : {Kind::stream, Kind::seqpacket}) {
        for (const bool busy_poll : {false, true}) {
            for (const char* call : {"send", "recv"}) {
                for (const int error : {EINTR, EAGAIN}) {
                    Pair pair(kind);
                    FaultyCalls calls({.call = call, .error = error});
                    EXPECT_TRUE(pair.round(calls, busy_poll)) << call << error;
                    EXPECT_GE(calls.count(call), 2u);
                }
            }
        }
    }
    for (const char* call : {"send", "recv"}) {
        Pair pair(Kind::stream);
        FaultyCalls calls({.call = call, .most = 7, .always = true});
        EXPECT_TRUE(pair.round(calls));
        EXPECT_EQ(calls.count(call), 15u);
    }
}

TEST(Exchange, LastingErrorsNameThePeer) {
    for (const char* call : {"send", "recv"}) {
        for (const int error : {EPIPE, ECONNRESET}) {
            Pair pair(Kind::stream);
            FaultyCalls calls({.call = call, .error = error});
            try {
                pair.round(calls);
                ADD_FAILURE();
            } catch (const std::system_error& caught) {
                EXPECT_EQ(caught.code().value(), error);
                EXPECT_THAT(caught.what(), HasSubstr("the peer"));
            }
        }
    }
}

TEST(Exchange, AShortReplyIsAFailureAndAnEndIsNot) {
    for (const Kind kind : {Kind::stream, Kind::seqpacket}) {
        Pair pair(kind);
        std::byte buffer[100];
        EXPECT_EQ(::send(pair.far.get(), buffer, 40, 0), 40);
        pair.far.reset();
        try {
            pair.exchange(transport::system_calls()).receive(buffer, 100);
            ADD_FAILURE();
        } catch (const transport::Failure& caught) {
            EXPECT_THAT(caught.what(),
                        HasSubstr(kind == Kind::stream ? "ended the stream after 40 of 100 bytes"
                                                       : "a message of 40 bytes came"));
        }
        Pair ended(kind);
        ended.far.reset();
        EXPECT_FALSE(ended.exchange(transport::system_calls()).receive(buffer, 100));
    }
}

TEST(Exchange, ALongMessageIsAFailure) {
    Pair pair(Kind::seqpacket);
    std::byte buffer[200] = {};
    EXPECT_EQ(::send(pair.far.get(), buffer, 150, 0), 150);
    EXPECT_THROW(pair.exchange(transport::system_calls()).receive(buffer, 100), transport::Failure);
}

TEST(Exchange, SaysHowFarItCameWhenToldToStop) {
    Pair pair(Kind::stream);
    std::byte buffer[100];
    EXPECT_EQ(::send(pair.far.get(), buffer, 40, 0), 40);
    pair.progress.attention = transport::Attention::stop;
    FaultyCalls calls({.call = "recv", .at = 1, .error = EINTR});
    try {
        pair.exchange(calls).receive(buffer, 100);
        FAIL();
    } catch (const transport::Failure& caught) {
        EXPECT_STREQ(caught.what(), "40 of 100 bytes came from the peer");
    }
}

}  // namespace
}  // namespace vsb::pingpong
