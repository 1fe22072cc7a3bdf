#include "harness/host/host_state.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace vsb::harness {
namespace {

TEST(HostState, DefaultsToTheToolsBesideTheProgram) {
    const HostState state = parse_host_state("", VSB_BIN_DIR);
    EXPECT_EQ(state.bin, VSB_BIN_DIR);
    EXPECT_TRUE(state.command.empty());
}

TEST(HostState, SplitsItsCommandAtBlanksAndRunsNoShell) {
    const HostState state = parse_host_state("cmd=./switch.sh  a $HOME;b", VSB_BIN_DIR);
    EXPECT_EQ(state.command, (std::vector<std::string>{"./switch.sh", "a", "$HOME;b"}));
}

TEST(HostState, RefusesWhatItDoesNotUnderstand) {
    EXPECT_THROW(parse_host_state("policy=per-packet", VSB_BIN_DIR), std::invalid_argument);
    EXPECT_THROW(parse_host_state("cmd=  ", VSB_BIN_DIR), std::invalid_argument);
    EXPECT_THROW(parse_host_state("bin=/nonexistent", VSB_BIN_DIR), std::invalid_argument);
}

}  // namespace
}  // namespace vsb::harness
