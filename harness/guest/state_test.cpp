#include "harness/guest/state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace vsb::guest {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(GuestState, ReadsEveryKey) {
    const GuestState state = parse_guest_state(
        "kernel=out/linux,modules=out/mod,cmdline=a=1\\,2 quiet,pre=./switch.sh  b,"
        "sysctl=net.core.rmem_max:1048576,sysctl=kernel.printk:1 2 3 4,policy=batched,burst=256,"
        "gap=5000");
    EXPECT_EQ(state.kernel, "out/linux");
    EXPECT_EQ(state.modules, "out/mod");
    EXPECT_EQ(state.cmdline, "a=1,2 quiet");
    EXPECT_THAT(state.pre, ElementsAre("./switch.sh", "b"));
    EXPECT_THAT(state.sysctls, ElementsAre(Pair("net.core.rmem_max", "1048576"),
                                           Pair("kernel.printk", "1 2 3 4")));
    EXPECT_EQ(state.policy, (DevicePolicy{Publication::batched, 256, 5000}));
}

TEST(GuestState, AnEmptySpecIsTheKernelThatNeedsNothing) {
    EXPECT_EQ(parse_guest_state(""), GuestState{});
    EXPECT_EQ(parse_guest_state("").kernel, "debian-uml");
}

TEST(GuestState, RefusesWhatItDoesNotUnderstand) {
    for (const char* spec : {"kernal=x", "kernel=", "policy=sometimes", "burst=0", "burst=1025",
                             "burst=-1", "gap=1e3", "sysctl=net", "sysctl=:1", "sysctl=..etc:1",
                             "sysctl=a/../b:1", "kernel=a,kernel=b", "cmdline=a\nb", "pre=  "}) {
        EXPECT_THROW(parse_guest_state(spec), std::invalid_argument) << spec;
    }
}

}  // namespace
}  // namespace vsb::guest
