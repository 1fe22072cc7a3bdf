#include "harness/environment.h"

#include <gtest/gtest.h>

#include "harness/machine_state.h"
#include "harness/scratch_folder.h"

namespace vsb::harness {
namespace {

constexpr const char* kKeys[] = {
    "kernel",         "cpu_model", "cpus_online", "cpus_allowed",  "governor",
    "turbo",          "smt",       "mitigations", "isolated_cpus", "clock_source",
    "virtualization", "compiler",  "build_type"};

TEST(Environment, ReadsAMachine) {
    const ScratchFolder root;
    root.write("proc/cpuinfo", "model name\t: Some CPU\nflags\t: fpu\n");
    root.write("proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-1\n");
    root.write("proc/sys/kernel/ostype", "Linux\n");
    root.write("proc/sys/kernel/osrelease", "6.1.0\n");
    root.write("proc/sys/kernel/arch", "x86_64\n");
    root.write("proc/cmdline", "quiet mitigations=off\n");
    root.write("proc/loadavg", "1.25 0.58 0.59 1/602 12345\n");
    root.write("sys/devices/system/cpu/online", "0-1\n");
    root.write("sys/devices/system/cpu/isolated", "1\n");
    root.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
    root.write("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n");
    root.write("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
    root.write("sys/devices/system/cpu/smt/active", "0\n");
    root.write("sys/devices/system/cpu/smt/control", "off\n");
    root.write("sys/devices/system/cpu/vulnerabilities/meltdown", "Vulnerable\n");
    root.write("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
    const Environment e = read_environment(root.path());
    EXPECT_EQ(e.at("kernel"), "Linux 6.1.0 x86_64");
    EXPECT_EQ(e.at("cpu_model"), "Some CPU");
    EXPECT_EQ(e.at("cpus_online"), "0-1");
    EXPECT_EQ(e.at("cpus_allowed"), "0-1");
    EXPECT_EQ(e.at("governor"), "performance: 0; powersave: 1");
    EXPECT_EQ(e.at("turbo"), "off");
    EXPECT_EQ(e.at("smt"), "off");
    EXPECT_EQ(e.at("mitigations"), "mitigations=off; meltdown: Vulnerable");
    EXPECT_EQ(e.at("isolated_cpus"), "1");
    EXPECT_EQ(e.at("clock_source"), "tsc");
    EXPECT_EQ(e.at("virtualization"), "none seen");
    EXPECT_FALSE(e.at("compiler").empty());
    EXPECT_EQ(read_load(root.path()), "1.25");
}

TEST(Environment, AnEmptyMachineHasEveryKey) {
    const ScratchFolder root;
    const Environment e = read_environment(root.path());
    for (const char* key : kKeys) {
        ASSERT_TRUE(e.contains(key)) << key;
        EXPECT_FALSE(e.at(key).empty()) << key;
    }
    EXPECT_EQ(e.size(), std::size(kKeys));
    EXPECT_EQ(e.at("cpu_model"), "unknown");
    EXPECT_EQ(read_load(root.path()), "unknown");
}

TEST(Environment, ThisMachineHasAKernel) {
    EXPECT_NE(read_environment().at("kernel"), "unknown");
    EXPECT_NE(read_load(), "unknown");
}

TEST(MachineState, WhatMovedMateriallyIsSaid) {
    MachineState before;
    before.wake_cost_ns = 6000;
    before.syscall_cost_ns = 1200;
    before.load_of_others = 0.02;
    MachineState after = before;
    EXPECT_TRUE(machine_moves(before, after).empty());
    after.wake_cost_ns = 8900;
    after.load_of_others = 0.11;
    EXPECT_TRUE(machine_moves(before, after).empty());
    after.wake_cost_ns = 9100;
    after.syscall_cost_ns = 700;
    after.load_of_others = 0.13;
    const auto moves = machine_moves(before, after);
    ASSERT_EQ(moves.size(), 3U);
    EXPECT_EQ(moves[0].code, "machine-moved-wake-cost-ns");
    EXPECT_EQ(moves[0].text,
              "the machine changed during the run: machine.wake_cost_ns was 6000 before and 9100 "
              "after it");
    EXPECT_EQ(moves[1].code, "machine-moved-syscall-cost-ns");
    EXPECT_EQ(moves[2].code, "machine-moved-load-of-others");
    // What was not measured did not move.
    after.wake_cost_ns.reset();
    EXPECT_EQ(machine_moves(before, after).size(), 2U);
}

TEST(MachineState, EveryKeyIsThereMeasuredOrNot) {
    MachineState state;
    state.wake_cost_ns = 6123.456;
    state.load_of_others = 0.01234;
    const auto e = machine_environment(state, ".end");
    EXPECT_EQ(e.size(), 5U);
    EXPECT_EQ(e.at("machine.wake_cost_ns.end"), "6123.5");
    EXPECT_EQ(e.at("machine.load_of_others.end"), "0.012");
    EXPECT_EQ(e.at("machine.cache_line_round_trip_ns.end"), "unavailable");
}

TEST(MachineState, OneCpuMeasuresOnlyTheSystemCall) {
    const MachineState state = measure_machine_state(0, 0);
    EXPECT_TRUE(state.syscall_cost_ns.has_value());
    EXPECT_FALSE(state.wake_cost_ns.has_value());
    EXPECT_FALSE(state.cache_line_round_trip_ns.has_value());
}

TEST(MachineState, ACpuThatIsNotThereMeasuresNothingOfTwo) {
    const MachineState state = measure_machine_state(0, 1023);
    EXPECT_FALSE(state.wake_cost_ns.has_value());
    EXPECT_FALSE(state.load_of_others.has_value());
}

}  // namespace
}  // namespace vsb::harness
