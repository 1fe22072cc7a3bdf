// A program that stands for QEMU writes what a guest would, into the file that is its channel.
#include "harness/guest/exact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace vsb::guest {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr const char* kHello = "echo HELLO version=1 release=7.2 cpus=1 >&3\n";

class ExactRun : public testing::Test {
  protected:
    ExactRun() {
        ready_.kernel.vmm = Vmm::qemu;
        ready_.chosen = {Vmm::qemu, Topology::loopback, Accel::tcg, 1};
        ready_.initrd = folder_.path() + "/initrd";
        write_whole(ready_.initrd, newc_archive({}));
        options_.clock = GuestClock::exact;
        options_.scratch = folder_.path();
        options_.qemu = folder_.path() + "/machine";
    }

    // Two programs in a step and one in the next, on a machine that does what `script` says.
    ExactRuns run(const std::string& script) {
        write_whole(options_.qemu, "#!/bin/sh\n" + script);
        fs::permissions(options_.qemu, fs::perms::owner_all);
        return run_exact(
            ready_, options_,
            {{{Side::receiver, {"/r"}}, {Side::sender, {"/s"}}}, {{Side::receiver, {"/r"}}}}, 7,
            monotonic_ns() + 20 * kSecond);
    }

    GuestFailure failure_of(const std::string& script) {
        try {
            run(script);
        } catch (const GuestFailure& failure) {
            return failure;
        }
        return {Fault::interrupted, "none"};
    }

    PrivateFolder folder_{testing::TempDir()};
    ReadyState ready_;
    GuestOptions options_;
};

TEST_F(ExactRun, WhatProgramsLeftComesInThePlansShape) {
    const ExactRuns exact =
        run(std::string(kHello) +
            "echo END id=2 status=0 signal=0 >&3; echo LINE id=1 text=first >&3\n"
            "echo END id=1 status=3 signal=0 cpu0_run_ns=5 >&3\n"
            "echo WARN text=w >&3; echo END id=3 status=0 signal=9 >&3\nexit 3\n");
    ASSERT_EQ(exact.runs.size(), 2u);
    ASSERT_EQ(exact.runs[0].size(), 2u);
    EXPECT_EQ(exact.runs[0][0].output, "first");
    EXPECT_EQ(exact.runs[0][0].status, 3);
    EXPECT_EQ(exact.runs[0][0].counters.at("cpu0_run_ns"), 5);
    EXPECT_EQ(exact.runs.at(1).at(0).signal, 9);
    EXPECT_THAT(exact.warnings, testing::ElementsAre("w"));
}

TEST_F(ExactRun, AResultThatIsMissingIsNone) {
    const std::string two = std::string(kHello) +
                            "echo END id=1 status=0 signal=0 >&3\n"
                            "echo END id=2 status=0 signal=0 >&3\n";
    EXPECT_THAT(failure_of(two + "exit 3\n").what(), HasSubstr("ended by itself"));
    const std::string three = two + "echo END id=3 status=0 signal=0 >&3\n";
    EXPECT_EQ(failure_of(three + "exit 3\n").fault(), Fault::interrupted);  // it went well
    EXPECT_EQ(failure_of(three + "exit 1\n").fault(), Fault::ended);
    EXPECT_EQ(failure_of(three + "echo 'BUG: bad' >&4; exit 3\n").fault(), Fault::kernel);
    EXPECT_EQ(failure_of(std::string(kHello) + "echo END id=4 >&3; sleep 60\n").fault(),
              Fault::garbage);
}

TEST_F(ExactRun, AGuestThatHangsWhileBootingIsToldFromOneThatHangsLater) {
    options_.boot_ns = kSecond / 25;
    const GuestFailure booting = failure_of("sleep 60\n");
    EXPECT_TRUE(booting.booting);
    EXPECT_NE(booting.fault(), Fault::ended);
    EXPECT_FALSE(failure_of(std::string(kHello) + "exit 3\n").booting);
}

}  // namespace
}  // namespace vsb::guest
