#include "harness/guest/programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "harness/guest/agent.h"
#include "harness/guest/orders.h"
#include "transport/control.h"

namespace vsb::guest {
namespace {

using harness::Kind;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

harness::TrialRequest request_of(Kind kind) {
    harness::TrialRequest request;
    request.workload.kind = kind;
    request.workload.payload_bytes = 64;
    request.workload.writes = 1000;
    request.workload.recv_bytes = 65536;
    request.seed = 9;
    request.timeout_ns = 60'000'000'000;
    return request;
}

ProgramEnds ends() {
    ProgramEnds ends;
    ends.port = 2000;
    ends.cid = 42;
    return ends;
}

GuestRun receiver(std::uint64_t bytes) {
    GuestRun run;
    run.output = "tool=vsb-receiver\nbytes=" + std::to_string(bytes) +
                 "\nchecked=yes\nrecvs=11\nfirst_to_last_ns=1000\nvoluntary_switches=3\n"
                 "involuntary_switches=4\nstatus=ok\n";
    run.counters = {{"cpu0_run_ns", 128000}, {"irq_rx", 5}};
    return run;
}

GuestRun sender(std::uint64_t bytes) {
    GuestRun run;
    run.output = "tool=vsb-sender\nbytes=" + std::to_string(bytes) + "\nstatus=ok\n";
    return run;
}

double value_of(const harness::TrialResult& result, const std::string& metric) {
    for (const auto& one : result.measurements) {
        if (one.metric == metric) return one.value;
    }
    return -1;
}

// Programs that end as they are told, and what was started.
class FakeRunner : public ProgramRunner {
  public:
    std::vector<std::vector<std::string>> started;
    std::vector<GuestRun> results;

    std::uint64_t start(const std::vector<std::string>& argv, const std::string&) override {
        started.push_back(argv);
        return started.size() - 1;
    }
    GuestRun finish(std::uint64_t id, std::uint64_t, const std::function<bool()>&) override {
        return results.at(id);
    }
};

TEST(ProgramPlan, ComparesAFewBytesFirstAndMeasuresThenWithoutComparing) {
    const ProgramPlan plan = plan_programs(request_of(Kind::fixed), ends());
    ASSERT_EQ(plan.size(), 2u);
    EXPECT_THAT(plan[0][0].argv, Contains("--verify"));
    EXPECT_THAT(plan[1][0].argv, Not(Contains("--verify")));
    EXPECT_THAT(plan[0][1].argv, Contains("4096"));  // 64 writes of 64 B
    EXPECT_THAT(plan[1][1].argv, Contains("64000"));
    EXPECT_THAT(plan[0][1].argv, Contains("vsock:42:2000"));
    EXPECT_THAT(plan[1][1].argv, Contains("vsock:42:2001"));
    EXPECT_THAT(plan[1][1].argv, Not(Contains("--cpu")));
    ProgramEnds pinned = ends();
    pinned.sender_cpu = 1;
    EXPECT_THAT(plan_programs(request_of(Kind::fixed), pinned)[1][1].argv, Contains("--cpu"));
}

TEST(ProgramPlan, TheOneWhoAsksMeasuresRoundTrips) {
    const ProgramPlan plan = plan_programs(request_of(Kind::rtt), ends());
    ASSERT_EQ(plan.size(), 1u);
    EXPECT_EQ(plan[0][0].side, Side::receiver);
    EXPECT_THAT(plan[0][0].argv, Contains("--listen"));
    EXPECT_EQ(plan[0][1].side, Side::sender);
    EXPECT_THAT(plan[0][1].argv, Contains("--requests"));
    EXPECT_EQ(plan[0][1].file, "/tmp/rtt");
}

TEST(ProgramFigures, CountInstructionsOnlyByTheExactClock) {
    const std::vector<std::vector<GuestRun>> runs{{receiver(4096), sender(4096)},
                                                  {receiver(64000), sender(64000)}};
    auto result = program_figures(request_of(Kind::fixed), ends(), runs);
    ASSERT_EQ(result.failure, "");
    EXPECT_EQ(result.measurements[0].metric, "throughput");
    EXPECT_EQ(value_of(result, "busy_instructions_per_byte"), -1);
    EXPECT_EQ(value_of(result, "bytes_sent"), 64000);
    EXPECT_EQ(value_of(result, "guest.irq_rx"), 5);
    ProgramEnds exact = ends();
    exact.exact_clock = true;
    result = program_figures(request_of(Kind::fixed), exact, runs);
    EXPECT_DOUBLE_EQ(value_of(result, "busy_instructions_per_byte"), 2);
}

TEST(ProgramFigures, NoneWhenTheEndsDiffer) {
    const auto failure = [](const std::vector<std::vector<GuestRun>>& runs) {
        const auto result = program_figures(request_of(Kind::fixed), ends(), runs);
        EXPECT_TRUE(result.measurements.empty());
        return result.failure;
    };
    const std::vector<GuestRun> checked{receiver(4096), sender(4096)};
    EXPECT_THAT(failure({checked, {receiver(64000), sender(63936)}}), HasSubstr("sent 63936"));
    EXPECT_THAT(failure({checked, {receiver(63936), sender(64000)}}), HasSubstr("received 63936"));
    EXPECT_THAT(failure({{receiver(4032), sender(4096)}, {receiver(64000), sender(64000)}}),
                HasSubstr("byte check"));
    EXPECT_THAT(failure({checked}), HasSubstr("results"));
    GuestRun broken = sender(64000);
    broken.signal = 9;
    EXPECT_THAT(failure({checked, {receiver(64000), broken}}), HasSubstr("vsb-sender: signal 9"));
}

TEST(ProgramFigures, EveryRoundTripMustBeThere) {
    GuestRun server;
    server.output = "tool=vsb-pingpong\nstatus=ok\n";
    GuestRun client = server;
    for (int i = 0; i < 1000; ++i)
        client.file += std::to_string(100 + i) + "\n";
    auto result = program_figures(request_of(Kind::rtt), ends(), {{server, client}});
    ASSERT_EQ(result.failure, "");
    ASSERT_EQ(result.samples.size(), 1u);
    EXPECT_EQ(result.samples[0].values.size(), 1000u);
    client.file.resize(client.file.size() - 5);
    result = program_figures(request_of(Kind::rtt), ends(), {{server, client}});
    EXPECT_THAT(result.failure, HasSubstr("measured 999"));
}

TEST(RunPrograms, EachSideWhereItRuns) {
    FakeRunner here;
    FakeRunner there;
    there.results = {receiver(4096), receiver(64000)};
    here.results = {sender(4096), sender(64000)};
    const auto result = run_programs(there, here, request_of(Kind::fixed), ends());
    EXPECT_EQ(result.failure, "");
    ASSERT_EQ(there.started.size(), 2u);
    EXPECT_EQ(there.started[0][0], "/vsb-receiver");
    ASSERT_EQ(here.started.size(), 2u);
    EXPECT_EQ(here.started[0][0], "/vsb-sender");
}

TEST(RunPrograms, NothingIsMeasuredAfterAByteCheckThatFailed) {
    FakeRunner runner;
    runner.results = {receiver(4096), sender(4096)};
    runner.results[0].status = 3;
    runner.results[0].output = "reason=byte 7 differs\nstatus=failed\n";
    const auto result = run_programs(runner, runner, request_of(Kind::fixed), ends());
    EXPECT_THAT(result.failure, HasSubstr("byte 7 differs"));
    EXPECT_EQ(runner.started.size(), 2u);
}

TEST(Orders, AreLinesThatEndWithStop) {
    const ProgramPlan plan = plan_programs(request_of(Kind::fixed), ends());
    std::string text = orders_text({{"net.core.rmem_max", "7"}}, plan);
    std::vector<std::string> verbs;
    LineBuffer lines;
    ASSERT_TRUE(lines.feed(text));
    for (std::string line; lines.next(line);)
        verbs.push_back(transport::parse_message(line).verb);
    const std::vector<std::string> expected{"SET",   "START", "START", "WAIT", "WAIT",
                                            "START", "START", "WAIT",  "WAIT", "STOP"};
    EXPECT_EQ(verbs, expected);
    EXPECT_THAT(text, HasSubstr("START id=4 a0=/vsb-sender"));
    EXPECT_THROW(start_order(1, std::vector<std::string>(65, "x"), ""), std::invalid_argument);
    EXPECT_THROW(start_order(1, {std::string(20000, 'x')}, ""), std::invalid_argument);
    EXPECT_THROW(start_order(1, {}, ""), std::invalid_argument);
}

}  // namespace
}  // namespace vsb::guest
