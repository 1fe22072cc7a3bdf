#include "harness/guest/module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "harness/guest/children.h"

namespace vsb::guest {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

template <typename T>
void put(std::string& bytes, std::size_t at, T value) {
    std::memcpy(bytes.data() + at, &value, sizeof(T));
}

// The least ELF64 object that holds a .modinfo: header, .modinfo, names, three section headers.
std::string module_object(const std::string& modinfo) {
    using namespace std::string_literals;
    const std::string names = "\0.modinfo\0.shstrtab\0"s;
    std::string elf(64, '\0');
    elf.replace(0, 6, "\177ELF\2\1");
    const std::size_t info_at = elf.size();
    elf += modinfo;
    const std::size_t names_at = elf.size();
    elf += names;
    const std::size_t table = elf.size();
    elf.resize(table + 3 * std::size_t{64});
    put<std::uint64_t>(elf, 40, table);
    put<std::uint16_t>(elf, 58, 64);
    put<std::uint16_t>(elf, 60, 3);
    put<std::uint16_t>(elf, 62, 2);
    put<std::uint32_t>(elf, table + 64, 1);
    put<std::uint64_t>(elf, table + 64 + 24, info_at);
    put<std::uint64_t>(elf, table + 64 + 32, modinfo.size());
    put<std::uint32_t>(elf, table + 128, 10);
    put<std::uint64_t>(elf, table + 128 + 24, names_at);
    put<std::uint64_t>(elf, table + 128 + 32, names.size());
    return elf;
}

std::string depends(const std::string& name, const std::string& list) {
    using namespace std::string_literals;
    return module_object("license=GPL\0depends="s + list + "\0name="s + name + "\0"s);
}

TEST(Modinfo, IsReadFromTheObject) {
    const ModuleInfo info = read_modinfo(depends("vsock_loopback", "vsock,vmw-common"));
    EXPECT_EQ(info.name, "vsock_loopback");
    EXPECT_THAT(info.depends, ElementsAre("vsock", "vmw_common"));
    EXPECT_TRUE(read_modinfo(depends("x", "")).depends.empty());
}

TEST(Modinfo, DamagedObjectsAreRefusedNeverOverrun) {
    const std::string whole = depends("x", "y");
    for (std::size_t size = 0; size < whole.size(); ++size) {
        EXPECT_THROW(read_modinfo(whole.substr(0, size)), std::invalid_argument) << size;
    }
    for (const std::size_t at : {40u, 58u, 60u, 62u, 128u, 152u, 160u}) {
        std::string broken = whole;
        for (std::size_t i = 0; i < 8 && at + i < broken.size(); ++i)
            broken[at + i] = '\xff';
        try {
            read_modinfo(broken);  // may still be readable; must not overrun (sanitizers watch)
        } catch (const std::invalid_argument&) {
        }
    }
}

TEST(ModuleName, IsTheFilesWithoutItsEndings) {
    EXPECT_EQ(module_name("vmw-x.ko.xz"), "vmw_x");
    EXPECT_EQ(module_name("vsock.ko"), "vsock");
    EXPECT_EQ(module_name("vsock.o"), "");
}

class Selecting : public testing::Test {
  protected:
    void add(const std::string& name, const std::string& list) {
        std::ofstream(fs::path(folder_.path()) / (name + ".ko"), std::ios::binary)
            << depends(name, list);
    }
    std::vector<std::string> select(const std::vector<std::string>& wanted,
                                    const std::vector<std::string>& builtin = {}) {
        std::vector<std::string> names;
        for (const LoadedModule& one :
             select_modules(find_modules(folder_.path()), wanted, builtin)) {
            names.push_back(one.name);
        }
        return names;
    }
    PrivateFolder folder_{testing::TempDir()};
};

TEST_F(Selecting, DependenciesComeFirstAndOnce) {
    add("transport", "common,virtio");
    add("common", "vsock");
    add("virtio", "ring");
    add("ring", "");
    add("vsock", "");
    add("unrelated", "");
    EXPECT_THAT(select({"transport", "vsock"}),
                ElementsAre("vsock", "common", "ring", "virtio", "transport"));
}

TEST_F(Selecting, AWantedModuleMayBeBuiltIn) {
    add("vsock", "");
    EXPECT_THAT(select({"virtio_console", "vsock"}), ElementsAre("vsock"));
}

TEST_F(Selecting, AMissingDependencyIsNamed) {
    add("vsock", "ghost");
    EXPECT_THROW(select({"vsock"}), std::invalid_argument);
    EXPECT_THAT(select({"vsock"}, {"ghost"}), ElementsAre("vsock"));
}

TEST_F(Selecting, ACircleIsAnError) {
    add("a", "b");
    add("b", "a");
    EXPECT_THROW(select({"a"}), std::invalid_argument);
}

}  // namespace
}  // namespace vsb::guest
