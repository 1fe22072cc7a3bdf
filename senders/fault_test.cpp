// The whole sender against a real receiver, with a fault at every call it makes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <system_error>

#include "senders/sender.h"
#include "transport/errors.h"
#include "transport/testing/child.h"
#include "transport/testing/faulty_calls.h"

namespace vsb::senders {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using transport::testing::Child;
using transport::testing::FaultyCalls;
using transport::testing::TemporaryFolder;

constexpr std::uint64_t kBytes = 100000;

class SenderFaultHost : public ::testing::Test {
  protected:
    // The sender's bytes, or what it threw; the receiver's end beside it.
    std::string run(FaultyCalls& calls) {
        const TemporaryFolder folder;
        const std::string endpoint = "unix:" + folder.path() + "/s";
        Child receiver({transport::testing::program(VSB_BIN_DIR, "vsb-receiver"), "--listen",
                        endpoint, "--verify", "--ready-fd", "3", "--timeout", "5"});
        EXPECT_EQ(receiver.ready(), "READY 0");
        SenderOptions options;
        options.endpoint = transport::parse_endpoint(endpoint);
        options.bytes = kBytes;
        options.write_bytes = 30000;
        options.warmup_bytes = 1000;
        options.timeout_ns = 5000000000;
        std::string result;
        try {
            result = std::to_string(run_sender(calls, options).bytes);
        } catch (const std::exception& error) {
            result = error.what();
        }
        receiver_code_ = receiver.wait(10);
        receiver_out_ = receiver.out();
        return result;
    }
    int receiver_code_ = -1;
    std::string receiver_out_;
};

TEST_F(SenderFaultHost, PassingFaultsAtEveryCallLoseNothing) {
    FaultyCalls counter;
    ASSERT_EQ(run(counter), "100000");
    unsigned runs = 0;
    for (const auto& [call, count] : counter.counts()) {
        std::vector<FaultyCalls::Fault> faults;
        if (call == "send" || call == "recv") {
            faults = {{.call = call, .error = EINTR},
                      {.call = call, .error = EAGAIN},
                      {.call = call, .most = 1}};
        } else if (call == "poll") {
            faults = {{.call = call, .error = EINTR}};
        } else if (call == "connect") {
            faults = {{.call = call, .error = EINTR}, {.call = call, .error = ECONNREFUSED}};
        }
        for (FaultyCalls::Fault fault : faults) {
            for (fault.at = 0; fault.at < count; ++fault.at) {
                FaultyCalls calls(fault);
                EXPECT_EQ(run(calls), "100000") << call << " " << fault.at << " " << fault.error;
                EXPECT_EQ(receiver_code_, 0);
                ++runs;
            }
        }
    }
    EXPECT_GT(runs, 30u);
}

TEST_F(SenderFaultHost, LastingFaultsAtEveryCallFailBothSides) {
    FaultyCalls counter;
    ASSERT_EQ(run(counter), "100000");
    for (const char* call : {"send", "recv"}) {
        for (unsigned at = 0; at < counter.count(call); ++at) {
            for (const int error : {EPIPE, ECONNRESET}) {
                FaultyCalls calls({.call = call, .at = at, .error = error});
                const std::string result = run(calls);
                // The last recv() hears the receiver's own end, which has all bytes by then.
                EXPECT_THAT(result, HasSubstr("the receiver at unix:")) << call << " " << at;
                if (receiver_code_ != 0) {
                    EXPECT_EQ(receiver_code_, 3);
                    EXPECT_THAT(receiver_out_, HasSubstr("status=failed"));
                    EXPECT_THAT(receiver_out_, ::testing::Not(HasSubstr("gbit_s")));
                } else {
                    EXPECT_STREQ(call, "recv");
                }
            }
        }
    }
}

TEST_F(SenderFaultHost, AClockThatStandsStillMeasuresNothing) {
    FaultyCalls calls;
    calls.clock = [] { return std::uint64_t{1000000000000}; };
    EXPECT_THAT(run(calls), HasSubstr("no time passed on the clock"));
    EXPECT_EQ(receiver_code_, 3);
}

TEST_F(SenderFaultHost, BytesThatAreNotThoseSentAreSeen) {
    const TemporaryFolder folder;
    const std::string endpoint = "unix:" + folder.path() + "/s";
    Child receiver({transport::testing::program(VSB_BIN_DIR, "vsb-receiver"), "--listen", endpoint,
                    "--verify", "--control", "none", "--seed", "2", "--ready-fd", "3"});
    receiver.ready();
    SenderOptions options;
    options.endpoint = transport::parse_endpoint(endpoint);
    options.bytes = 1000;
    options.control = false;
    options.seed = 1;
    run_sender(transport::system_calls(), options);  // hears nothing without a control channel
    EXPECT_EQ(receiver.wait(), 3);
    EXPECT_THAT(receiver.out(), HasSubstr("is not the one that was sent"));
}

}  // namespace
}  // namespace vsb::senders
