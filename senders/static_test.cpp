// The tools must start where there is nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "transport/testing/child.h"

namespace vsb::senders {
namespace {

using ::testing::HasSubstr;
using transport::testing::Child;
using transport::testing::program;
using transport::testing::TemporaryFolder;

constexpr const char* kTools[] = {"vsb-sender", "vsb-receiver", "vsb-pingpong"};

TEST(StaticHost, AreUnder3MBWithoutTheirSymbols) {
    const TemporaryFolder folder;
    for (const char* tool : kTools) {
        const std::string small = folder.path() + "/" + tool;
        Child strip({"/usr/bin/strip", "-o", small, program(VSB_BIN_DIR, tool)});
        ASSERT_EQ(strip.wait(), 0) << strip.err();
        EXPECT_LT(std::filesystem::file_size(small), 3000000u) << tool;
    }
}

TEST(StaticHost, RunInAnEmptyRoot) {
#ifdef VSB_NOT_STATIC
    GTEST_SKIP() << "a build with sanitizers is not static";
#endif
    if (::geteuid() != 0) GTEST_SKIP() << "chroot() wants root";
    const TemporaryFolder root;
    for (const char* tool : kTools) {
        std::filesystem::copy_file(program(VSB_BIN_DIR, tool), root.path() + "/" + tool);
    }
    Child receiver({"/vsb-receiver", "--listen", "unix:/s", "--ready-fd", "3", "--verify"},
                   root.path());
    EXPECT_EQ(receiver.ready(), "READY 0");
    Child sender({"/vsb-sender", "--connect", "unix:/s", "--bytes", "1M"}, root.path());
    EXPECT_EQ(sender.wait(), 0) << sender.err();
    EXPECT_EQ(receiver.wait(), 0) << receiver.err();
    Child server({"/vsb-pingpong", "--listen", "tcp:127.0.0.1:0", "--ready-fd", "3"}, root.path());
    const std::string ready = server.ready();
    ASSERT_THAT(ready, HasSubstr("READY "));
    Child client({"/vsb-pingpong", "--connect", "tcp:127.0.0.1:" + ready.substr(6), "--requests",
                  "100", "--warmup", "1", "--samples", "/rtt"},
                 root.path());
    EXPECT_EQ(client.wait(), 0) << client.err();
    EXPECT_EQ(server.wait(), 0) << server.err();
    EXPECT_TRUE(std::filesystem::exists(root.path() + "/rtt"));
}

}  // namespace
}  // namespace vsb::senders
