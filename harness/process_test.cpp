#include "harness/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

namespace vsb::harness {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kSecond = 1'000'000'000;

SpawnPlan shell(const std::string& script) {
    SpawnPlan plan;
    plan.argv = {"sh", "-c", script};
    return plan;
}

TEST(Process, RunsToItsEnd) {
    const CommandResult result = run_command(shell("echo one; echo two >&2; exit 7"), 10 * kSecond);
    EXPECT_EQ(result.status, (ExitStatus{7, 0}));
    EXPECT_EQ(result.output, "one\ntwo\n");
}

TEST(Process, ASignalIsNoExitStatus) {
    const CommandResult result = run_command(shell("kill -SEGV $$"), 10 * kSecond);
    EXPECT_EQ(result.status.signal, SIGSEGV);
    EXPECT_THAT(describe(result.status), HasSubstr("signal 11"));
}

TEST(Process, AProgramThatIsNotThereIsNamed) {
    try {
        run_command({{"/nowhere/qemu"}, {}, {}, {}}, kSecond);
        FAIL() << "it started";
    } catch (const std::system_error& error) {
        EXPECT_EQ(error.code().value(), ENOENT);
        EXPECT_THAT(error.what(), HasSubstr("/nowhere/qemu"));
    }
    EXPECT_THROW(run_command({{"no-such-program-at-all"}, {}, {}, {}}, kSecond), std::system_error);
}

TEST(Process, TheDeadlineAndTheStopEndIt) {
    EXPECT_THROW(run_command(shell("sleep 60"), kSecond / 10), std::runtime_error);
    EXPECT_THROW(run_command(shell("sleep 60"), 60 * kSecond, [] { return true; }),
                 std::runtime_error);
}

TEST(Process, OutputHasACap) {
    const auto result = run_command(shell("head -c 3000000 /dev/zero | tr '\\0' x"), 20 * kSecond);
    EXPECT_EQ(result.output.size(), std::size_t{1} << 20);
    EXPECT_EQ(result.status.status, 0);
}

TEST(Process, GetsOnlyTheDescriptorsItWasGiven) {
    const Fd ours(open("/dev/zero", O_RDONLY));  // not CLOEXEC: it must not be inherited anyway
    SpawnPlan plan = shell("ls /proc/self/fd | tr '\\n' ' '");
    plan.fds.emplace_back(ours.get(), 7);
    // ls opens one itself: 3.
    EXPECT_EQ(run_command(plan, 10 * kSecond).output, "0 1 2 3 7 ");
}

TEST(Process, TheGroupGoesWithTheChild) {
    auto [read_end, write_end] = make_pipe();
    SpawnPlan plan = shell("sleep 600 & echo $!; wait");
    plan.fds.emplace_back(write_end.get(), 1);
    pid_t grandchild = 0;
    {
        Child child(plan);
        write_end.reset();
        std::string text(32, '\0');
        const ssize_t n = read(read_end.get(), text.data(), text.size());
        ASSERT_GT(n, 0);
        grandchild = std::atoi(text.c_str());
        ASSERT_GT(grandchild, 1);
        ASSERT_EQ(::kill(grandchild, 0), 0);
    }
    // The pipe's last writer was the grandchild: its end says that it is gone.
    char byte = 0;
    EXPECT_EQ(read(read_end.get(), &byte, 1), 0);
}

TEST(Process, ItsEnvironmentIsOursWithChanges) {
    SpawnPlan plan = shell("echo $TMPDIR:$PATH");
    plan.environment = {"TMPDIR=/x"};
    const std::string output = run_command(plan, 10 * kSecond).output;
    EXPECT_THAT(output, testing::StartsWith("/x:/"));
}

TEST(PrivateFolder, IsOursAloneAndGoesAway) {
    std::string path;
    {
        const PrivateFolder folder(std::filesystem::temp_directory_path().string());
        path = folder.path();
        struct stat status {};
        ASSERT_EQ(stat(path.c_str(), &status), 0);
        EXPECT_EQ(status.st_mode & 0777, 0700u);
        std::filesystem::create_directories(path + "/a/b");
    }
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_THROW(PrivateFolder("/nowhere"), std::system_error);
}

}  // namespace
}  // namespace vsb::harness
