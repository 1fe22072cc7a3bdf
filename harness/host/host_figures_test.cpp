#include "harness/host/host_figures.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace vsb::harness {
namespace {

using transport::read_results;

const Workload kWork{"fixed/64B", Kind::fixed, 64, 65536, 100};

const char* const kSender =
    "bytes=6400\nchecked=yes\nsends=100\nshort_sends=0\nwhole_ns=9000\nuser_ns=1\nsystem_ns=2\n"
    "voluntary_switches=3\ninvoluntary_switches=0\nstatus=ok\n";

std::string receiver(const std::string& bytes, const std::string& checked = "yes",
                     const std::string& ns = "8000") {
    return "bytes=" + bytes + "\nchecked=" + checked + "\nrecvs=7\nfirst_to_last_ns=" + ns +
           "\nwhole_ns=9000\nuser_ns=1\nsystem_ns=2\nvoluntary_switches=3\n"
           "involuntary_switches=0\nstatus=ok\n";
}

TEST(HostFigures, RateIsFromFirstToLastByteOfTheReceiver) {
    const auto figures =
        host_throughput(kWork, read_results(kSender), read_results(receiver("6400")));
    ASSERT_GE(figures.size(), 2u);
    EXPECT_EQ(figures[0].metric, "throughput");
    EXPECT_EQ(figures[0].unit, "Gbit/s");
    EXPECT_DOUBLE_EQ(figures[0].value, 6.4);  // 51200 bits in 8000 ns
    EXPECT_EQ(figures[1].metric, "recv_calls");
    EXPECT_EQ(figures[1].value, 7);
}

TEST(HostFigures, GivesNoFigureThatMustNotBeBelieved) {
    const auto sender = read_results(kSender);
    EXPECT_THROW(host_throughput(kWork, sender, read_results(receiver("6399"))),
                 std::runtime_error);
    EXPECT_THROW(host_throughput(kWork, sender, read_results(receiver("6400", "no"))),
                 std::runtime_error);
    EXPECT_THROW(host_throughput(kWork, sender, read_results(receiver("6400", "yes", "0"))),
                 std::runtime_error);
    EXPECT_THROW(host_throughput(kWork, sender, read_results("bytes=6400\nstatus=ok\n")),
                 std::invalid_argument);
    Workload cycles = kWork;
    cycles.kind = Kind::cycles;
    const std::string uncounted =
        "bytes=6400\nchecked=yes\ncycles_absent=not supported\nstatus=ok\n";
    EXPECT_THROW(host_throughput(cycles, sender, read_results(uncounted)), std::runtime_error);
}

TEST(HostFigures, EveryRequestNeedsItsSample) {
    const Workload rtt{"rtt/64B", Kind::rtt, 64, 0, 3};
    const auto client = read_results("requests=3\nclock_cost_ns=20.5\nstatus=ok\n");
    const TrialResult result = host_rtt(rtt, client, {1000, 2000, 3000});
    ASSERT_FALSE(result.measurements.empty());
    EXPECT_EQ(result.measurements[0].metric, "rtt_mean");
    EXPECT_DOUBLE_EQ(result.measurements[0].value, 2);
    EXPECT_THROW(host_rtt(rtt, client, {1000, 2000}), std::runtime_error);
}

}  // namespace
}  // namespace vsb::harness
