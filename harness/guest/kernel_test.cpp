#include "harness/guest/kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <stdexcept>

#include "harness/guest/children.h"
#include "harness/guest/fetch.h"

namespace vsb::guest {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// An ELF64 executable with one PT_LOAD at an address, and a banner.
std::string executable(std::uint64_t address, const std::string& banner) {
    std::string elf(64 + 56, '\0');
    elf.replace(0, 6, "\177ELF\2\1");
    const auto put = [&elf](std::size_t at, auto value) {
        std::memcpy(elf.data() + at, &value, sizeof(value));
    };
    put(32, std::uint64_t{64});
    put(54, std::uint16_t{56});
    put(56, std::uint16_t{1});
    put(64, std::uint32_t{1});
    put(64 + 16, address);
    return elf + banner;
}

class KernelFile : public testing::Test {
  protected:
    std::string write(const std::string& name, const std::string& bytes) {
        const fs::path path = fs::path(folder_.path()) / name;
        fs::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << bytes;
        return path.string();
    }
    Kernel find(const std::string& path) {
        KernelRequest request;
        request.kernel = path;
        return find_kernel(request);
    }
    PrivateFolder folder_{testing::TempDir()};
    const std::string banner_ = "Linux version 7.2.13 (me@here) #1 SMP now\n";
};

TEST_F(KernelFile, KnowsUserModeLinuxFromAKernelProper) {
    const Kernel uml = find(write("linux", executable(0x60000000, banner_)));
    EXPECT_EQ(uml.vmm, Vmm::uml);
    EXPECT_EQ(uml.release, "7.2.13");
    EXPECT_TRUE(uml.smp);
    EXPECT_EQ(image_kind(write("vmlinux", executable(0xffffffff81000000, banner_))),
              ImageKind::vmlinux);
    EXPECT_FALSE(find(write("up", executable(0x60000000, "Linux version 6.1 () #1 x\n"))).smp);
}

TEST_F(KernelFile, ReadsABzImagesRelease) {
    std::string image(0x400, '\0');
    image.replace(0x202, 4, "HdrS");
    image[0x20e] = '\x80';  // 0x80 + 0x200
    image.replace(0x280, 8, "6.1.0-x ");
    const Kernel kernel = find(write("bzImage", image));
    EXPECT_EQ(kernel.vmm, Vmm::qemu);
    EXPECT_EQ(kernel.release, "6.1.0-x");
}

TEST_F(KernelFile, TakesABuildTree) {
    write("tree/linux", executable(0x60000000, banner_));
    write("tree/.config", "CONFIG_VSOCKETS=y\n# CONFIG_X is not set\n");
    const Kernel kernel = find(folder_.path() + "/tree");
    EXPECT_EQ(kernel.image.filename(), "linux");
    EXPECT_EQ(kernel.config.at("CONFIG_VSOCKETS"), "y");
    EXPECT_EQ(kernel.config.size(), 1u);
}

TEST_F(KernelFile, RefusesWhatIsNoKernel) {
    EXPECT_THROW(find("/bin/sh"), std::invalid_argument);
    EXPECT_THROW(find("/nowhere"), std::invalid_argument);
    EXPECT_THROW(find(folder_.path()), std::invalid_argument);
    EXPECT_THROW(find(write("empty", "")), std::invalid_argument);
}

TEST(MissingOptions, NamesWhatAGuestWouldLack) {
    const auto config = parse_config(
        "CONFIG_BLK_DEV_INITRD=y\nCONFIG_PROC_FS=y\nCONFIG_VSOCKETS=m\nCONFIG_SSL=y\n"
        "CONFIG_VIRTIO_UML=y\n");
    const auto missing = missing_options(config, Vmm::uml, Topology::vhost_user, false);
    EXPECT_THAT(missing, ElementsAre(HasSubstr("CONFIG_VSOCKETS=m"),
                                     HasSubstr("CONFIG_VIRTIO_VSOCKETS is not set")));
    EXPECT_THAT(missing_options(config, Vmm::qemu, Topology::loopback, true),
                Contains(HasSubstr("CONFIG_VSOCKETS_LOOPBACK")));
    EXPECT_THAT(missing_options({}, Vmm::uml, Topology::vhost_user, false), IsEmpty());
}

TEST(CacheFolder, IsWhereTheEnvironmentSays) {
    EXPECT_EQ(cache_folder("/x", "/home/a"), "/x/vsockbench");
    EXPECT_EQ(cache_folder(nullptr, "/home/a"), "/home/a/.cache/vsockbench");
    EXPECT_EQ(cache_folder("relative", "/home/a"), "/home/a/.cache/vsockbench");
    EXPECT_THROW(cache_folder(nullptr, nullptr), std::invalid_argument);
}

TEST(KernelPackage, IsTheOneTheMetaPackageDependsOn) {
    EXPECT_EQ(kernel_package_of("Package: linux-image-amd64\n"
                                "Depends: linux-image-6.1.0-38-amd64 (= 6.1.147-1), x\n"),
              "linux-image-6.1.0-38-amd64");
    EXPECT_EQ(kernel_package_of("Package: x\nPre-Depends: linux-image-1\n"), std::nullopt);
    EXPECT_EQ(kernel_package_of(""), std::nullopt);
}

TEST(PrivateApt, NeverNamesThisMachinesSources) {
    const auto options = private_apt_options("/r");
    EXPECT_THAT(options, Contains("Dir::Etc::SourceList=/r/sources.list"));
    EXPECT_THAT(options, Contains("Dir::Etc::SourceParts=/dev/null"));
    EXPECT_THAT(options, Contains("Dir::State::Lists=/r/lists"));
}

TEST(Suite, IsAWord) {
    for (const char* name : {"debian:", "debian:a/b", "debian:x y", "debian:../x"}) {
        EXPECT_THROW(fetch_debian_kernel(name, testing::TempDir() + "/none", {}, {}),
                     std::invalid_argument)
            << name;
    }
}

}  // namespace
}  // namespace vsb::guest
