// The real tools over real sockets of this machine, and tools that go wrong.

#include "harness/host/host_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "harness/process.h"

namespace vsb::harness {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kSecond = 1'000'000'000;

Experiment over(const std::string& endpoint) {
    Experiment experiment;
    experiment.target = "host";
    experiment.endpoint = endpoint;
    return experiment;
}

TrialRequest request(Kind kind, std::uint64_t payload, std::uint64_t writes) {
    TrialRequest wanted;
    wanted.workload = {"w", kind, payload, kind == Kind::matched ? payload : 65536, writes};
    wanted.timeout_ns = 60 * kSecond;
    return wanted;
}

double figure(const TrialResult& result, const std::string& metric) {
    for (const auto& one : result.measurements)
        if (one.metric == metric) return one.value;
    ADD_FAILURE() << "no " << metric;
    return 0;
}

class TargetHost : public ::testing::TestWithParam<const char*> {};

TEST_P(TargetHost, MeasuresThroughputWithEveryByteAccountedFor) {
    const auto target = make_host_target(over(GetParam()), VSB_BIN_DIR);
    for (const Kind kind : {Kind::fixed, Kind::matched}) {
        const TrialResult result = target->run(request(kind, 4096, 500));
        ASSERT_EQ(result.failure, "");
        EXPECT_EQ(result.measurements.front().metric, "throughput");
        EXPECT_GT(result.measurements.front().value, 0);
        EXPECT_EQ(figure(result, "bytes_sent"), 4096 * 500);
        EXPECT_EQ(figure(result, "bytes_received"), 4096 * 500);
        EXPECT_GE(figure(result, "recv_calls"), 2);
    }
}

TEST_P(TargetHost, KeepsEveryRoundTrip) {
    const auto target = make_host_target(over(GetParam()), VSB_BIN_DIR);
    const TrialResult result = target->run(request(Kind::rtt, 64, 200));
    ASSERT_EQ(result.failure, "");
    ASSERT_EQ(result.samples.size(), 1u);
    EXPECT_EQ(result.samples[0].values.size(), 200u);
}

INSTANTIATE_TEST_SUITE_P(Sockets, TargetHost, ::testing::Values("unix", "tcp"),
                         [](const auto& chosen) { return std::string(chosen.param); });

// A folder of tools in which one is a script of ours.
class BadToolHost : public ::testing::Test {
  protected:
    void replace(const std::string& tool, const std::string& script) {
        for (const char* name : {"vsb-sender", "vsb-receiver", "vsb-pingpong"}) {
            const std::string path = folder_.path() + "/" + name;
            std::ofstream out(path);
            out << "#!/bin/sh\n";
            out << (name == tool ? script : std::string("exec " VSB_BIN_DIR "/") + name + " \"$@\"")
                << "\n";
            out.close();
            ASSERT_EQ(chmod(path.c_str(), 0700), 0);
        }
    }

    TrialResult trial(Kind kind, std::int64_t timeout_ns = 60 * kSecond) {
        const auto target = make_host_target(over("unix"), folder_.path());
        TrialRequest wanted = request(kind, 64, 1000);
        wanted.timeout_ns = timeout_ns;
        TrialResult result = target->run(wanted);
        EXPECT_TRUE(result.measurements.empty() && result.samples.empty());
        return result;
    }

    PrivateFolder folder_{"/tmp"};
};

TEST_F(BadToolHost, ReceiverThatCannotListen) {
    replace("vsb-receiver", "echo 'no sockets today' >&2; exit 3");
    EXPECT_THAT(trial(Kind::fixed).failure,
                ::testing::AllOf(HasSubstr("could not listen"), HasSubstr("no sockets today")));
}

TEST_F(BadToolHost, ReceiverThatIsKilledInTheMiddle) {
    // Dies once the connection is made, however far the transfer came.
    replace("vsb-receiver", VSB_BIN_DIR
            "/vsb-receiver \"$@\" --timeout 5 & kill -9 $!; "
            "echo 'READY 0' >&3; kill -9 $$");
    EXPECT_NE(trial(Kind::fixed, 20 * kSecond).failure, "");
}

TEST_F(BadToolHost, ReceiverThatCountsTooFewBytes) {
    replace("vsb-receiver", VSB_BIN_DIR "/vsb-receiver \"$@\" | sed 's/^bytes=.*/bytes=63999/'");
    EXPECT_THAT(trial(Kind::fixed).failure, HasSubstr("bytes differ: planned 64000, sent 64000, "
                                                      "received 63999"));
}

TEST_F(BadToolHost, ReceiverWhoseResultsWereCutShort) {
    replace("vsb-receiver", VSB_BIN_DIR "/vsb-receiver \"$@\" | head -n 2");
    EXPECT_THAT(trial(Kind::fixed).failure, HasSubstr("printed no results"));
}

TEST_F(BadToolHost, ReceiverThatNeverEnds) {
    replace("vsb-receiver", "echo 'READY 0' >&3; exec 3>&-; exec tail -f /dev/null");
    EXPECT_THAT(trial(Kind::fixed, kSecond).failure, HasSubstr("in time (--timeout)"));
}

TEST_F(BadToolHost, ClientThatLosesASample) {
    replace(
        "vsb-pingpong",
        "if [ \"$1\" = --listen ]; then exec " VSB_BIN_DIR "/vsb-pingpong \"$@\"; fi\n" VSB_BIN_DIR
        "/vsb-pingpong \"$@\" && for last; do [ \"$before\" = --samples ] && sed -i 1d \"$last\";"
        " before=$last; done; true");
    EXPECT_THAT(trial(Kind::rtt).failure, HasSubstr("planned 1000 round trips, measured 999"));
}

TEST_F(BadToolHost, CommandThatFailsMakesTheStateUnusable) {
    Experiment experiment = over("unix");
    experiment.b = "cmd=/bin/false";
    const auto target = make_host_target(experiment, VSB_BIN_DIR);
    target->prepare(0);
    EXPECT_THROW(target->prepare(1), std::runtime_error);
}

TEST(HostPlacement, SenderAndReceiverStandApart) {
    const CpuPlacement both = host_placement({}, {2, 5});
    EXPECT_NE(both.receiver, both.sender);
    EXPECT_FALSE(both.worker);
    CpuPlacement worker;
    worker.worker = 2;
    EXPECT_THROW(host_placement(worker, {2, 5}), std::invalid_argument);
}

}  // namespace
}  // namespace vsb::harness
