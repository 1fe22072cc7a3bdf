#include "harness/guest/allowed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/guest/children.h"

namespace vsb::guest {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(AllowedMemory, WantsAFolderOneCanWriteAndMapIn) {
    EXPECT_THAT(why_no_memory_in("/nowhere/at/all", 1), HasSubstr("no file can be made there"));
    EXPECT_THAT(why_no_memory_in("/proc/self", 1), HasSubstr("/proc/self: "));
}

TEST(AllowedMemory, WantsSpace) {
    const PrivateFolder folder(testing::TempDir());
    if (const std::string why = why_no_memory_in(folder.path(), 1); !why.empty()) {
        GTEST_SKIP() << why;
    }
    EXPECT_THAT(why_no_memory_in(folder.path(), std::uint64_t{1} << 62), HasSubstr("MiB are free"));
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));  // it leaves nothing
}

TEST(AllowedMemory, TheFirstFittingFolderIsTakenElseTheLast) {
    const PrivateFolder folder(testing::TempDir());
    EXPECT_EQ(best_scratch({"/nowhere", "/proc/self", folder.path()}), folder.path());
    EXPECT_EQ(best_scratch({"/nowhere", "/proc/self"}), "/proc/self");
}

}  // namespace
}  // namespace vsb::guest
