#include "harness/cpus.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace vsb::harness {
namespace {

TEST(CpuList, TheKernelsFormat) {
    EXPECT_EQ(parse_cpu_list("0-3,8\n"), (std::vector<int>{0, 1, 2, 3, 8}));
    EXPECT_EQ(parse_cpu_list("5"), (std::vector<int>{5}));
    EXPECT_EQ(parse_cpu_list("2,1,1-2"), (std::vector<int>{1, 2}));
    EXPECT_TRUE(parse_cpu_list("\n").empty());
    for (const char* bad : {"a", "3-1", "-1", "1-", "1,,2", "65536", "0x1", "1-2-3"}) {
        EXPECT_THROW(parse_cpu_list(bad), std::invalid_argument) << bad;
    }
    EXPECT_EQ(cpu_list_text({0, 1, 2, 3, 8}), "0-3,8");
    EXPECT_EQ(cpu_list_text({}), "");
}

TEST(CpuPlacement, RolesByName) {
    const CpuPlacement placement = parse_cpu_placement("worker=1,receiver=0,device=2");
    EXPECT_EQ(placement.receiver, 0);
    EXPECT_EQ(placement.worker, 1);
    EXPECT_EQ(placement.device, 2);
    EXPECT_FALSE(placement.sender.has_value());
    EXPECT_EQ(cpu_placement_text(placement), "receiver=0,worker=1,device=2");
    EXPECT_EQ(parse_cpu_placement(cpu_placement_text(placement)), placement);
    EXPECT_EQ(parse_cpu_placement(""), CpuPlacement{});
    for (const char* bad :
         {"receiver", "reader=0", "receiver=-1", "receiver=x", "receiver=0,receiver=1",
          "receiver=99999999999999999999", "receiver=70000", "receiver=0,"}) {
        EXPECT_THROW(parse_cpu_placement(bad), std::invalid_argument) << bad;
    }
}

TEST(CpuPlacement, DefaultsKeepReceiverAndWorkerApart) {
    const auto both = [](const char* given, const std::vector<int>& allowed) {
        const CpuPlacement p = with_defaults(parse_cpu_placement(given), allowed);
        return std::pair(p.receiver.value_or(-1), p.worker.value_or(-1));
    };
    EXPECT_EQ(both("", {0, 1, 2}), std::pair(0, 1));
    EXPECT_EQ(both("worker=0", {0, 1}), std::pair(1, 0));
    EXPECT_EQ(both("device=0", {0, 1, 2}), std::pair(1, 2));
    EXPECT_EQ(both("receiver=0,device=1", {0, 1}), std::pair(0, 1));
    EXPECT_EQ(both("", {4}), std::pair(4, 4));
    EXPECT_EQ(both("receiver=3,worker=2", {2, 3}), std::pair(3, 2));
}

TEST(CpuPlacement, AllowedOnesOnly) {
    EXPECT_NO_THROW(check_allowed(parse_cpu_placement("receiver=0,worker=3"), {0, 3}));
    try {
        check_allowed(parse_cpu_placement("receiver=0,worker=7"), {0, 1, 2, 3});
        FAIL() << "CPU 7 was accepted";
    } catch (const std::invalid_argument& error) {
        EXPECT_STREQ(error.what(),
                     "worker=7: CPU 7 is not one this process may run on (choose from 0-3)");
    }
}

TEST(CpuPlacement, ThisProcessMayRunSomewhere) {
    EXPECT_FALSE(allowed_cpus().empty());
}

}  // namespace
}  // namespace vsb::harness
