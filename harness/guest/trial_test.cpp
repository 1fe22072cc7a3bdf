#include "harness/guest/trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "harness/guest/boot.h"

namespace vsb::guest {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

const std::string kGood =
    "tool=vsb-receiver\nbytes=640\nchecked=yes\nrecvs=11\nfirst_to_last_ns=1000\n"
    "whole_ns=2000\nuser_ns=10\nsystem_ns=20\nvoluntary_switches=3\ninvoluntary_switches=4\n"
    "status=ok\n";

GuestRun run_of(const std::string& output, int status = 0) {
    GuestRun run;
    run.output = output;
    run.status = status;
    return run;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
    return text;
}

TEST(ThroughputFigures, AreTheReceiversWithTheRateFirst) {
    harness::TrialResult result;
    throughput_figures(run_of(kGood), 640, false, result);
    ASSERT_EQ(result.failure, "");
    ASSERT_GE(result.measurements.size(), 4u);
    EXPECT_EQ(result.measurements[0].metric, "throughput");
    EXPECT_EQ(result.measurements[0].unit, "Gbit/s");
    EXPECT_DOUBLE_EQ(result.measurements[0].value, 5.12);
    EXPECT_EQ(result.measurements[1].metric, "recv_calls");
    EXPECT_DOUBLE_EQ(result.measurements[1].value, 11);
    EXPECT_EQ(result.measurements[2].metric, "context_switches");
    EXPECT_DOUBLE_EQ(result.measurements[2].value, 7);
}

TEST(ThroughputFigures, NoneBesideAFailure) {
    const auto failure = [](const GuestRun& run, std::uint64_t planned, bool cycles = false) {
        harness::TrialResult result;
        throughput_figures(run, planned, cycles, result);
        EXPECT_TRUE(result.measurements.empty());
        return result.failure;
    };
    EXPECT_THAT(failure(run_of(kGood), 641), HasSubstr("planned 641, received 640"));
    EXPECT_THAT(failure(run_of(replaced(kGood, "checked=yes", "checked=no")), 640),
                HasSubstr("bytes differ"));
    EXPECT_THAT(
        failure(run_of(replaced(kGood, "first_to_last_ns=1000", "first_to_last_ns=0")), 640),
        HasSubstr("clock"));
    EXPECT_THAT(failure(run_of(replaced(kGood, "status=ok\n", "")), 640),
                HasSubstr("no whole results"));
    EXPECT_THAT(failure(run_of(kGood, 3), 640), HasSubstr("exit status 3"));
    EXPECT_THAT(failure(run_of("reason=received 1 of 2 bytes\nstatus=failed\n", 3), 640),
                HasSubstr("received 1 of 2"));
    EXPECT_THAT(failure(run_of("/vsb-receiver: No such file or directory\n", 127), 640),
                HasSubstr("No such file"));
    EXPECT_THAT(failure(run_of(""), 640), HasSubstr("no results"));
    EXPECT_THAT(failure(run_of(replaced(kGood, "recvs=11", "recvs=many")), 640),
                HasSubstr("recvs"));
    EXPECT_THAT(
        failure(run_of(replaced(kGood, "recvs=11", "cpu_cycles_absent=no counters")), 640, true),
        HasSubstr("no counters"));
}

TEST(ThroughputFigures, TheToolsOwnWordsAreNoResults) {
    harness::TrialResult result;
    throughput_figures(run_of("vsb-receiver: something about the guest\n" + kGood), 640, false,
                       result);
    EXPECT_EQ(result.failure, "");
}

TEST(ReceiverArgv, TellsThePlanWhereThereIsNoControlChannel) {
    ReceiverCall call;
    call.port = 1024;
    call.bytes = 4096;
    call.recv_bytes = 64;
    call.seed = 9;
    call.cpus = {1, 0};
    auto argv = receiver_argv(call);
    EXPECT_EQ(argv[0], "/vsb-receiver");
    for (const char* word : {"vsock:any:1024", "none", "4096", "64", "9"}) {
        EXPECT_THAT(argv, Contains(word));
    }
    EXPECT_THAT(argv, Not(Contains("--verify")));
    call.device_sends = false;
    call.verify = true;
    argv = receiver_argv(call);
    EXPECT_THAT(argv, Not(Contains("--expect")));
    EXPECT_THAT(argv, Contains("--verify"));
}

TEST(GuestCpus, TheReceiverIsNeverWhereTheInterruptsAre) {
    EXPECT_EQ(guest_cpus(Vmm::uml, 2).receiver, 1);
    EXPECT_EQ(guest_cpus(Vmm::uml, 2).worker, 0);
    EXPECT_EQ(guest_cpus(Vmm::qemu, 2).receiver, 0);
    EXPECT_EQ(guest_cpus(Vmm::qemu, 2).worker, 1);
    EXPECT_EQ(guest_cpus(Vmm::uml, 1).receiver, 0);
}

TEST(Choose, FollowsTheKernel) {
    GuestOptions options;
    EXPECT_EQ(choose(options, Vmm::uml, true, {}).vmm, Vmm::uml);
    EXPECT_EQ(choose(options, Vmm::uml, true, {}).cpus, 2u);
    EXPECT_EQ(choose(options, Vmm::uml, false, {}).cpus, 1u);
    EXPECT_EQ(choose(options, Vmm::qemu, true, {true, true}).accel, Accel::kvm);
    EXPECT_EQ(choose(options, Vmm::qemu, true, {}).accel, Accel::tcg);
    EXPECT_EQ(choose(options, Vmm::qemu, true, {}).topology, Topology::vhost_user);
}

TEST(Choose, TheExactClockIsOneCpuInLoopbackUnderTcg) {
    GuestOptions options;
    set_clock(options, "exact");
    const Chosen chosen = choose(options, Vmm::qemu, true, {true, true});
    EXPECT_EQ(chosen.topology, Topology::loopback);
    EXPECT_EQ(chosen.accel, Accel::tcg);
    EXPECT_EQ(chosen.cpus, 1u);
    EXPECT_THROW(choose(options, Vmm::uml, true, {true, true}), std::invalid_argument);
    set_topology(options, "vhost-user");
    EXPECT_THROW(choose(options, Vmm::qemu, true, {true, true}), std::invalid_argument);
}

TEST(Choose, VhostNeedsItsDeviceAndNestedOnlyQemu) {
    GuestOptions options;
    set_topology(options, "vhost");
    EXPECT_THROW(choose(options, Vmm::qemu, true, {}), KernelUnavailable);
    EXPECT_EQ(choose(options, Vmm::qemu, true, {true, true}).topology, Topology::vhost);
    set_topology(options, "nested");
    EXPECT_EQ(choose(options, Vmm::qemu, true, {}).topology, Topology::nested);
    EXPECT_THROW(choose(options, Vmm::uml, true, {true, true}), std::invalid_argument);
}

TEST(Choose, RefusesWhatDoesNotFit) {
    GuestOptions options;
    set_vmm(options, "qemu");
    EXPECT_THROW(choose(options, Vmm::uml, true, {true, true}), std::invalid_argument);
    set_vmm(options, "auto");
    set_accel(options, "kvm");
    EXPECT_THROW(choose(options, Vmm::qemu, true, {}), std::invalid_argument);
    EXPECT_THROW(set_vmm(options, "xen"), std::invalid_argument);
    EXPECT_THROW(set_topology(options, "moebius"), std::invalid_argument);
    EXPECT_THROW(set_clock(options, "sundial"), std::invalid_argument);
    EXPECT_THROW(set_accel(options, "hvf"), std::invalid_argument);
}

}  // namespace
}  // namespace vsb::guest
