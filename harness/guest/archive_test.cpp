#include "harness/guest/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/guest/children.h"

namespace vsb::guest {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Offsets and values of newc's headers, read by hand: 6 bytes of magic, then 8 hex digits a field.
std::vector<std::uint32_t> fields_at(const std::string& bytes, std::size_t at) {
    EXPECT_EQ(bytes.substr(at, 6), "070701");
    std::vector<std::uint32_t> fields;
    for (std::size_t i = 0; i < 13; ++i) {
        const std::string digits = bytes.substr(at + 6 + 8 * i, 8);
        fields.push_back(static_cast<std::uint32_t>(std::stoul(digits, nullptr, 16)));
    }
    return fields;
}

TEST(Newc, EqualNodesGiveEqualBytesWithSequentialInodes) {
    const std::vector<CpioNode> nodes{{"dev", NodeKind::directory, 0755, "", 0, 0},
                                      {"dev/console", NodeKind::character_device, 0600, "", 5, 1},
                                      {"init", NodeKind::file, 0755, "#!x", 0, 0}};
    const std::string bytes = newc_archive(nodes);
    EXPECT_EQ(newc_archive(nodes), bytes);
    EXPECT_EQ(bytes.size() % 512, 0u);

    std::size_t at = 0;
    for (std::uint32_t inode = 1; inode <= 3; ++inode) {
        const auto fields = fields_at(bytes, at);
        const std::size_t name_size = fields[11];
        EXPECT_EQ(fields[0], inode);
        EXPECT_EQ(fields[5], 0u);  // mtime
        const std::string name = bytes.substr(at + 110, name_size - 1);
        EXPECT_EQ(name, nodes[inode - 1].path);
        if (name == "dev/console") {
            EXPECT_EQ(fields[1], 020600u);
            EXPECT_EQ(fields[9], 5u);
            EXPECT_EQ(fields[10], 1u);
        }
        if (name == "init") {
            EXPECT_EQ(fields[1], 0100755u);
            EXPECT_EQ(fields[6], 3u);
        }
        at = (at + 110 + name_size + 3) / 4 * 4;
        at = (at + fields[6] + 3) / 4 * 4;
    }
}

TEST(Newc, RefusesPathsThatAKernelWouldDrop) {
    const auto archive = [](const std::string& path) {
        return newc_archive({{path, NodeKind::file, 0644, "", 0, 0}});
    };
    for (const char* path : {"/init", "a/../b", "..", "", "no/folder"}) {
        EXPECT_THROW(archive(path), std::invalid_argument) << path;
    }
    EXPECT_THROW(newc_archive({{"a", NodeKind::file, 0644, "", 0, 0},
                               {"a", NodeKind::file, 0644, "", 0, 0}}),
                 std::invalid_argument);
}

// A .deb by libarchive itself: an ar file with one data.tar member.
struct Member {
    std::string path;
    std::string bytes;
    unsigned type = AE_IFREG;
    std::string link;
};

la_ssize_t append(archive*, void* to, const void* data, std::size_t size) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(data), size);
    return static_cast<la_ssize_t>(size);
}

std::string tar_of(const std::vector<Member>& members) {
    std::string bytes;
    archive* out = archive_write_new();
    archive_write_set_format_gnutar(out);
    archive_write_open(out, &bytes, nullptr, append, nullptr);
    for (const Member& member : members) {
        archive_entry* entry = archive_entry_new();
        archive_entry_set_pathname(entry, member.path.c_str());
        archive_entry_set_filetype(entry, member.type);
        archive_entry_set_perm(entry, 0755);
        archive_entry_set_size(entry, static_cast<la_int64_t>(member.bytes.size()));
        if (member.type == AE_IFLNK) archive_entry_set_symlink(entry, member.link.c_str());
        archive_write_header(out, entry);
        archive_write_data(out, member.bytes.data(), member.bytes.size());
        archive_entry_free(entry);
    }
    archive_write_free(out);
    return bytes;
}

std::string ar_of(const std::string& name, const std::string& bytes) {
    std::string size = std::to_string(bytes.size());
    size.resize(10, ' ');
    std::string padded = name;
    padded.resize(16, ' ');
    return "!<arch>\n" + padded + "0           0     0     100644  " + size + "`\n" + bytes +
           (bytes.size() % 2 == 1 ? "\n" : "");
}

class Deb : public testing::Test {
  protected:
    Deb() { fs::create_directory(out_); }

    void unpack(const std::string& bytes, const UnpackLimits& limits = {}) {
        const fs::path deb = fs::path(folder_.path()) / "x.deb";
        std::ofstream(deb, std::ios::binary) << bytes;
        unpack_deb(
            deb, out_, [](std::string_view path) { return path.starts_with("usr/"); }, limits);
    }

    PrivateFolder folder_{testing::TempDir()};
    fs::path out_ = fs::path(folder_.path()) / "out";
};

TEST_F(Deb, UnpacksWhatIsWanted) {
    unpack(ar_of("data.tar", tar_of({{"./usr/bin/linux", "kernel", AE_IFREG, ""},
                                     {"./etc/passwd", "root", AE_IFREG, ""},
                                     {"./usr/link", "", AE_IFLNK, "/etc/passwd"}})));
    EXPECT_EQ(fs::file_size(out_ / "usr/bin/linux"), 6u);
    EXPECT_FALSE(fs::exists(out_ / "etc"));
    EXPECT_FALSE(fs::exists(fs::symlink_status(out_ / "usr/link")));
}

TEST_F(Deb, RefusesPathsThatLeave) {
    EXPECT_THROW(unpack(ar_of("data.tar", tar_of({{"usr/../../x", "y", AE_IFREG, ""}}))),
                 std::runtime_error);
    EXPECT_THROW(unpack(ar_of("data.tar", tar_of({{"/usr/x", "y", AE_IFREG, ""}}))),
                 std::runtime_error);
    EXPECT_FALSE(fs::exists(fs::path(folder_.path()) / "x"));
}

TEST_F(Deb, RefusesMoreThanItsLimits) {
    const std::string deb = ar_of(
        "data.tar",
        tar_of({{"usr/a", std::string(100, 'x'), AE_IFREG, ""}, {"usr/b", "y", AE_IFREG, ""}}));
    EXPECT_THROW(unpack(deb, {.bytes = 50, .entries = 10}), std::runtime_error);
    fs::remove_all(out_);
    fs::create_directory(out_);
    EXPECT_THROW(unpack(deb, {.bytes = 1000, .entries = 1}), std::runtime_error);
}

TEST_F(Deb, RefusesWhatIsNoPackage) {
    EXPECT_THROW(unpack("not an archive"), std::runtime_error);
    EXPECT_THROW(unpack(ar_of("control.tar", tar_of({}))), std::runtime_error);
    const std::string whole =
        ar_of("data.tar", tar_of({{"usr/a", std::string(5000, 'x'), AE_IFREG, ""}}));
    EXPECT_THROW(unpack(whole.substr(0, 3000)), std::runtime_error);
}

TEST(Unpacked, PlainBytesAreThemselvesAndTheLimitHolds) {
    EXPECT_EQ(unpack_bytes("plain", 10), "plain");
    EXPECT_THROW(unpack_bytes("plain", 4), std::runtime_error);
}

}  // namespace
}  // namespace vsb::guest
