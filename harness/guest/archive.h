#pragma once
// Archives, through libarchive: an initramfs written, a Debian package unpacked, one compressed
// file read. Whatever libarchive calls a warning is an error here.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace vsb::guest {

enum class NodeKind : std::uint8_t { directory, file, character_device };

// One entry of a cpio archive, in the order to be written: folders before what is in them.
struct CpioNode {
    std::string path;  // without a leading slash
    NodeKind kind = NodeKind::file;
    std::uint32_t mode = 0644;
    std::string bytes;                   // files
    std::uint32_t major = 0, minor = 0;  // devices
};

// The nodes as an uncompressed newc archive: sequential inodes (newc holds 32 bits; real ones would
// collide), owner root, time 0, so that equal nodes give equal bytes. Throws std::invalid_argument:
// a path that is absolute, has "..", comes twice or before its folder.
std::string newc_archive(const std::vector<CpioNode>& nodes);

struct UnpackLimits {
    std::uint64_t bytes = std::uint64_t{4} << 30;
    std::uint64_t entries = 200'000;
};

// Unpacks the data member of a .deb below `folder`, which must exist: regular files and folders
// only; links and devices are left out; modes are 0644 or 0755. `keep` chooses by path ("usr/...");
// the others are skipped. Throws std::runtime_error: a damaged archive, a path that is absolute or
// has "..", more than the limits.
void unpack_deb(const std::filesystem::path& deb, const std::filesystem::path& folder,
                bool (*keep)(std::string_view path), const UnpackLimits& limits = {});

// A file's bytes, uncompressed when it is .xz, .gz or .zst. Throws std::runtime_error, also when
// there are more than `limit`.
std::string read_unpacked(const std::filesystem::path& file, std::size_t limit);

// The same of bytes in memory.
std::string unpack_bytes(std::string_view bytes, std::size_t limit);

}  // namespace vsb::guest
