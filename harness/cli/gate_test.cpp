#include "harness/cli/gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "harness/cli/progress.h"

namespace vsb::cli {
namespace {

using stats::Verdict;
using testing::ElementsAre;
using testing::IsEmpty;

reports::Row row(const char* workload, const char* metric, bool headline, Verdict verdict) {
    reports::Row one;
    one.workload = workload;
    one.metric = metric;
    one.headline = headline;
    one.result.verdict = verdict;
    return one;
}

TEST(Gate, JudgesHeadlineRowsOnly) {
    reports::Comparison c;
    c.rows = {row("fixed/64B", "throughput", true, Verdict::faster),
              row("rtt/64B", "rtt_max", false, Verdict::slower),
              row("rtt/64B", "rtt_mean", true, Verdict::inconclusive)};
    const std::vector<std::string> workloads{"fixed/64B", "rtt/64B"};
    EXPECT_THAT(gate_failures(c, workloads, {Verdict::slower}), IsEmpty());
    EXPECT_THAT(gate_failures(c, workloads, {Verdict::slower, Verdict::inconclusive}),
                ElementsAre("rtt/64B is inconclusive"));
}

TEST(Gate, WhatCouldNotBeJudgedHasNotPassed) {
    reports::Comparison c;
    c.rows = {row("fixed/64B", "throughput", true, Verdict::faster)};
    EXPECT_THAT(gate_failures(c, {"fixed/64B", "fixed/4K"}, {Verdict::slower}),
                ElementsAre("fixed/4K has no verdict"));
    EXPECT_THAT(gate_failures({}, {}, {Verdict::slower}), ElementsAre("nothing was compared"));
}

TEST(Gate, NamesVerdicts) {
    EXPECT_THAT(parse_gate("slower,inconclusive"),
                ElementsAre(Verdict::slower, Verdict::inconclusive));
    for (const char* bad : {"", "slow", "slower,", "Slower"}) {
        EXPECT_THROW(parse_gate(bad), std::invalid_argument) << bad;
    }
}

TEST(Progress, RunningChangeNeedsTwoPairsOfEachOrder) {
    using stats::Order;
    std::vector<stats::Pair> pairs{{1, 1.1, Order::ab}, {1, 1.2, Order::ba}, {1, 1.1, Order::ab}};
    EXPECT_EQ(running_change(pairs), "");
    pairs.push_back({1, 1.2, Order::ba});
    // ln 1.1 and ln 1.2, twice each, no spread within an order: the interval is the point.
    EXPECT_EQ(running_change(pairs), "+14.89% [+14.89%, +14.89%]");
    pairs.push_back({0, 1, Order::ba});
    EXPECT_EQ(running_change(pairs), "");
}

TEST(Progress, Durations) {
    EXPECT_EQ(duration_text(-5), "0:00");
    EXPECT_EQ(duration_text(42'900'000'000), "0:42");
    EXPECT_EQ(duration_text(3787'000'000'000), "1:03:07");
}

}  // namespace
}  // namespace vsb::cli
