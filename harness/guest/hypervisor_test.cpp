#include "harness/guest/hypervisor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>

#include "harness/guest/kernel.h"

namespace vsb::guest {
namespace {

using testing::ElementsAre;

TEST(ParseLdd, TakesTheFilesAndTheLoader) {
    EXPECT_THAT(parse_ldd("\tlinux-vdso.so.1 (0x00007ffd)\n"
                          "\tlibz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x00007f)\n"
                          "\t/lib64/ld-linux-x86-64.so.2 (0x00007f)\n"),
                ElementsAre("/lib/x86_64-linux-gnu/libz.so.1", "/lib64/ld-linux-x86-64.so.2"));
    EXPECT_THAT(parse_ldd("\tnot a dynamic executable\n"), ElementsAre());
    EXPECT_THAT(parse_ldd(""), ElementsAre());
    EXPECT_THROW(parse_ldd("\tlibq.so.9 => not found\n"), std::runtime_error);
}

TEST(FindQemu, SaysHowToGetIt) {
    try {
        find_qemu("no-such-emulator");
        FAIL();
    } catch (const KernelUnavailable& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("./setup --guest"));
    }
    EXPECT_THROW(find_qemu("/no/such/emulator"), KernelUnavailable);
    EXPECT_EQ(find_qemu("/usr/bin/env"), "/usr/bin/env");
}

}  // namespace
}  // namespace vsb::guest
