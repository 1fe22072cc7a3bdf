#include "harness/guest/host_programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <system_error>

namespace vsb::guest {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// The folder of the tools is /usr/bin here: what runs is any program.
class HostProgramsTest : public testing::Test {
  protected:
    PrivateFolder folder_{testing::TempDir()};
    HostPrograms programs_{"/usr/bin", folder_.path()};
};

TEST_F(HostProgramsTest, RunTwoAtOnceAndBringTheirOutput) {
    const auto one = programs_.start({"/printf", "%s\\n", "status=ok"});
    const auto two = programs_.start({"/false"});
    EXPECT_EQ(programs_.finish(two, monotonic_ns() + 10 * kSecond, nullptr).status, 1);
    const GuestRun run = programs_.finish(one, monotonic_ns() + 10 * kSecond, nullptr);
    EXPECT_EQ(run.status, 0);
    EXPECT_EQ(run.output, "status=ok\n");
    EXPECT_TRUE(run.counters.empty());
}

TEST_F(HostProgramsTest, AGuestsTmpIsTheScratchFolder) {
    const auto id = programs_.start({"/cp", "/etc/hostname", "/tmp/rtt"}, "/tmp/rtt");
    const GuestRun run = programs_.finish(id, monotonic_ns() + 10 * kSecond, nullptr);
    EXPECT_EQ(run.output, "");
    EXPECT_FALSE(run.file.empty());
}

TEST_F(HostProgramsTest, EndAtTheDeadlineOrWhenTold) {
    auto id = programs_.start({"/sleep", "600"});
    EXPECT_THROW(programs_.finish(id, monotonic_ns(), nullptr), std::runtime_error);
    id = programs_.start({"/sleep", "600"});
    EXPECT_THROW(programs_.finish(id, monotonic_ns() + 60 * kSecond, [] { return true; }),
                 std::runtime_error);
    EXPECT_THROW(programs_.start({"/no-such-program"}), std::system_error);
}

}  // namespace
}  // namespace vsb::guest
