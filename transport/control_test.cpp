#include "transport/control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <system_error>
#include <vector>

#include "transport/errors.h"
#include "transport/testing/faulty_calls.h"

namespace vsb::transport {
namespace {

using testing::FaultyCalls;
using ::testing::HasSubstr;

constexpr std::uint64_t kSoon = 20000000;
constexpr std::uint64_t kLater = 5000000000;

class Control : public ::testing::TestWithParam<int> {
  protected:
    void open(Calls& calls) {
        int fds[2];
        ASSERT_EQ(::socketpair(AF_UNIX, GetParam() | SOCK_CLOEXEC, 0, fds), 0);
        ours_.emplace(calls, Descriptor(calls, fds[0]), "the peer");
        theirs_.emplace(system_calls(), Descriptor(system_calls(), fds[1]), "us");
    }
    std::uint64_t soon() { return system_calls().now_ns() + kSoon; }
    std::uint64_t later() { return system_calls().now_ns() + kLater; }
    template <class F>
    std::string failure(F&& f) {
        try {
            f();
        } catch (const Failure& error) {
            return error.what();
        }
        return "";
    }
    // Lives as long as the channel that is opened with it.
    FaultyCalls& faulty(FaultyCalls::Fault fault) {
        faults_.push_back(std::make_unique<FaultyCalls>(std::move(fault)));
        return *faults_.back();
    }
    std::vector<std::unique_ptr<FaultyCalls>> faults_;
    std::optional<ControlChannel> ours_, theirs_;
};

TEST_P(Control, CarriesMessagesInOrder) {
    open(system_calls());
    ControlMessage plan{"PLAN", {}};
    plan.fields.add("bytes", std::uint64_t{17});
    ours_->send(plan, later());
    ours_->send({"GO", {}}, later());
    EXPECT_EQ(theirs_->expect("PLAN", later()).fields.number("bytes"), 17u);
    theirs_->expect("GO", later());
}

TEST_P(Control, ErrorsNameThePeer) {
    open(system_calls());
    EXPECT_EQ(failure([&] { ours_->expect("GO", soon()); }),
              "the peer did not say GO before the deadline");
    theirs_->send({"DONE", {}}, later());
    EXPECT_EQ(failure([&] { ours_->expect("GO", later()); }),
              "the peer said DONE where GO was due");
    theirs_->fail("the disk\nburns");
    EXPECT_EQ(failure([&] { ours_->expect("GO", later()); }),
              "the peer failed: the disk\\x0aburns");
    theirs_.reset();
    EXPECT_EQ(failure([&] { ours_->expect("GO", later()); }), "the peer left before it said GO");
}

TEST_P(Control, TroubleIsSeenWithoutWaiting) {
    open(system_calls());
    EXPECT_EQ(ours_->trouble(), std::nullopt);
    theirs_->send({"DONE", {}}, later());
    EXPECT_EQ(ours_->trouble(), std::nullopt);
    EXPECT_EQ(ours_->expect("DONE", later()).verb, "DONE") << "looking does not take it";
    theirs_->fail("no");
    EXPECT_EQ(ours_->trouble(), "the peer failed: no");
}

TEST_P(Control, ALeavingPeerIsTroubleUnlessItSaidDone) {
    open(system_calls());
    theirs_->send({"DONE", {}}, later());
    theirs_.reset();
    EXPECT_EQ(ours_->trouble(), std::nullopt);
    ours_->expect("DONE", later());
    EXPECT_THAT(ours_->trouble().value_or(""), HasSubstr("left in the middle"));
}

TEST_P(Control, SurvivesInterruptions) {
    for (const char* call : {"send", "recv", "poll"}) {
        for (const int error : {EINTR, EAGAIN}) {
            if (std::string(call) == "poll" && error == EAGAIN) continue;
            FaultyCalls& calls = faulty({.call = call, .error = error});
            open(calls);
            ours_->send({"GO", {}}, later());
            theirs_->expect("GO", later());
            theirs_->send({"DONE", {}}, later());
            ours_->expect("DONE", later());
            EXPECT_GE(calls.count(call), std::string(call) == "poll" ? 1u : 2u);
        }
    }
}

TEST_P(Control, AResetIsThePeerLeaving) {
    FaultyCalls& calls = faulty({.call = "recv", .error = ECONNRESET});
    open(calls);
    theirs_->send({"GO", {}}, later());
    EXPECT_EQ(failure([&] { ours_->expect("GO", later()); }), "the peer left before it said GO");
    FaultyCalls& broken = faulty({.call = "send", .error = EPIPE});
    open(broken);
    try {
        ours_->send({"GO", {}}, later());
        FAIL();
    } catch (const std::system_error& error) {
        EXPECT_EQ(error.code().value(), EPIPE);
        EXPECT_THAT(error.what(), HasSubstr("sending GO to the peer"));
    }
}

class StreamControl : public Control {};

TEST_P(StreamControl, PartialSendsArriveWhole) {
    FaultyCalls& calls = faulty({.call = "send", .most = 1, .always = true});
    open(calls);
    ours_->send({"PLAN", {}}, later());
    theirs_->expect("PLAN", later());
    EXPECT_EQ(calls.count("send"), 5u);
}

INSTANTIATE_TEST_SUITE_P(Stream, StreamControl, ::testing::Values(SOCK_STREAM));
INSTANTIATE_TEST_SUITE_P(Kinds, Control, ::testing::Values(SOCK_STREAM, SOCK_SEQPACKET));

TEST(ParseMessage, RejectsWhatIsNone) {
    for (const char* bad : {"", "go", "GO x", "GO =1", "GO a=1 a=2", "GO  a=1", " GO", "G0"}) {
        EXPECT_THROW(parse_message(bad), std::invalid_argument) << bad;
    }
    EXPECT_EQ(parse_message("FAIL reason=a b=c d").fields.text("reason"), "a b=c d");
}

}  // namespace
}  // namespace vsb::transport
