#include "harness/guest/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <set>
#include <stdexcept>
#include <system_error>

namespace vsb::guest {
namespace {

namespace fs = std::filesystem;
using std::string_view;

struct ReadFree {
    void operator()(archive* one) const { archive_read_free(one); }
};
struct WriteFree {
    void operator()(archive* one) const { archive_write_free(one); }
};
struct EntryFree {
    void operator()(archive_entry* one) const { archive_entry_free(one); }
};
using Reader = std::unique_ptr<archive, ReadFree>;
using Writer = std::unique_ptr<archive, WriteFree>;
using Entry = std::unique_ptr<archive_entry, EntryFree>;

constexpr std::size_t kBlock = 65536;

[[noreturn]] void fail(archive* from, const std::string& what) {
    const char* text = archive_error_string(from);
    throw std::runtime_error(what + ": " + (text != nullptr ? text : "damaged archive"));
}

// True at the end of the archive. ARCHIVE_WARN means that something was not as it should be.
bool next_entry(archive* from, archive_entry** entry, const std::string& what) {
    const int result = archive_read_next_header(from, entry);
    if (result == ARCHIVE_EOF) return false;
    if (result != ARCHIVE_OK) fail(from, what);
    return true;
}

bool relative_path(string_view path) {
    if (path.empty() || path.front() == '/' || path.find('\0') != string_view::npos) return false;
    while (!path.empty()) {
        const std::size_t end = std::min(path.find('/'), path.size());
        if (path.substr(0, end) == "..") return false;
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    return true;
}

la_ssize_t append(archive*, void* to, const void* data, std::size_t size) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(data), size);
    return static_cast<la_ssize_t>(size);
}

void check_node(const CpioNode& node, std::set<std::string>& seen) {
    if (!relative_path(node.path)) {
        throw std::invalid_argument("cpio: '" + node.path + "' is not a relative path");
    }
    if (!seen.insert(node.path).second) {
        throw std::invalid_argument("cpio: '" + node.path + "' comes twice");
    }
    const std::size_t slash = node.path.rfind('/');
    if (slash != std::string::npos && !seen.contains(node.path.substr(0, slash))) {
        throw std::invalid_argument("cpio: the folder of '" + node.path + "' comes after it");
    }
}

// The data member of a .deb, streamed into a second reader.
struct MemberStream {
    archive* outer = nullptr;
    std::array<char, kBlock> block{};
};

la_ssize_t read_member(archive* inner, void* context, const void** data) {
    auto* stream = static_cast<MemberStream*>(context);
    const la_ssize_t got =
        archive_read_data(stream->outer, stream->block.data(), stream->block.size());
    if (got < 0) archive_set_error(inner, EIO, "%s", archive_error_string(stream->outer));
    *data = stream->block.data();
    return got < 0 ? -1 : got;
}

class OutFile {
  public:
    OutFile(const fs::path& path, mode_t mode)
        : path_(path),
          // The folder is private and new: nothing is there to follow or to overwrite.
          fd_(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)) {
        if (fd_ < 0) throw std::system_error(errno, std::generic_category(), path.string());
    }
    OutFile(const OutFile&) = delete;
    OutFile& operator=(const OutFile&) = delete;
    ~OutFile() { close(fd_); }

    void write(const char* data, std::size_t size) {
        while (size > 0) {
            const ssize_t n = ::write(fd_, data, size);
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) throw std::system_error(errno, std::generic_category(), path_.string());
            data += n;
            size -= static_cast<std::size_t>(n);
        }
    }

  private:
    fs::path path_;
    int fd_;
};

void unpack_entries(archive* data, const fs::path& folder, bool (*keep)(string_view),
                    const UnpackLimits& limits, const std::string& what) {
    std::uint64_t entries = 0;
    std::uint64_t bytes = 0;
    archive_entry* entry = nullptr;
    while (next_entry(data, &entry, what)) {
        if (++entries > limits.entries) throw std::runtime_error(what + ": too many entries");
        const char* raw = archive_entry_pathname(entry);
        string_view path = raw != nullptr ? raw : "";
        if (path.starts_with("./")) path.remove_prefix(2);
        if (path.ends_with('/')) path.remove_suffix(1);
        if (path.empty() || path == ".") continue;
        if (!relative_path(path)) {
            throw std::runtime_error(what + ": it holds the path '" + std::string(path) + "'");
        }
        const bool plain =
            archive_entry_filetype(entry) == AE_IFREG && archive_entry_hardlink(entry) == nullptr;
        if (!plain || !keep(path)) continue;
        const fs::path target = folder / path;
        fs::create_directories(target.parent_path());
        OutFile out(target, (archive_entry_perm(entry) & 0100) != 0 ? 0755 : 0644);
        std::array<char, kBlock> block{};
        for (;;) {
            const la_ssize_t got = archive_read_data(data, block.data(), block.size());
            if (got < 0) fail(data, what);
            if (got == 0) break;
            bytes += static_cast<std::uint64_t>(got);
            if (bytes > limits.bytes) throw std::runtime_error(what + ": too many bytes");
            out.write(block.data(), static_cast<std::size_t>(got));
        }
    }
}

Reader raw_reader() {
    Reader in(archive_read_new());
    archive_read_support_format_raw(in.get());
    archive_read_support_format_empty(in.get());
    archive_read_support_filter_xz(in.get());
    archive_read_support_filter_gzip(in.get());
    archive_read_support_filter_zstd(in.get());
    return in;
}

std::string read_all(archive* in, std::size_t limit, const std::string& what) {
    std::string bytes;
    archive_entry* entry = nullptr;
    if (!next_entry(in, &entry, what)) return bytes;
    std::array<char, kBlock> block{};
    for (;;) {
        const la_ssize_t got = archive_read_data(in, block.data(), block.size());
        if (got < 0) fail(in, what);
        if (got == 0) return bytes;
        if (bytes.size() + static_cast<std::size_t>(got) > limit) {
            throw std::runtime_error(what + ": larger than " + std::to_string(limit) + " bytes");
        }
        bytes.append(block.data(), static_cast<std::size_t>(got));
    }
}

}  // namespace

std::string newc_archive(const std::vector<CpioNode>& nodes) {
    std::string bytes;
    Writer out(archive_write_new());
    if (archive_write_set_format_cpio_newc(out.get()) != ARCHIVE_OK ||
        archive_write_set_bytes_in_last_block(out.get(), 512) != ARCHIVE_OK ||
        archive_write_open(out.get(), &bytes, nullptr, append, nullptr) != ARCHIVE_OK) {
        fail(out.get(), "cpio");
    }
    std::set<std::string> seen;
    std::int64_t inode = 0;
    for (const CpioNode& node : nodes) {
        check_node(node, seen);
        const Entry entry(archive_entry_new());
        archive_entry_set_pathname(entry.get(), node.path.c_str());
        archive_entry_set_ino(entry.get(), ++inode);
        archive_entry_set_nlink(entry.get(), node.kind == NodeKind::directory ? 2 : 1);
        archive_entry_set_size(entry.get(), node.kind == NodeKind::file
                                                ? static_cast<std::int64_t>(node.bytes.size())
                                                : 0);
        archive_entry_set_mtime(entry.get(), 0, 0);
        archive_entry_set_uid(entry.get(), 0);
        archive_entry_set_gid(entry.get(), 0);
        archive_entry_set_perm(entry.get(), node.mode);
        switch (node.kind) {
            case NodeKind::directory:
                archive_entry_set_filetype(entry.get(), AE_IFDIR);
                break;
            case NodeKind::file:
                archive_entry_set_filetype(entry.get(), AE_IFREG);
                break;
            case NodeKind::character_device:
                archive_entry_set_filetype(entry.get(), AE_IFCHR);
                archive_entry_set_rdevmajor(entry.get(), node.major);
                archive_entry_set_rdevminor(entry.get(), node.minor);
                break;
        }
        if (archive_write_header(out.get(), entry.get()) != ARCHIVE_OK) fail(out.get(), node.path);
        if (node.kind != NodeKind::file) continue;
        const la_ssize_t written =
            archive_write_data(out.get(), node.bytes.data(), node.bytes.size());
        if (written < 0 || static_cast<std::size_t>(written) != node.bytes.size()) {
            fail(out.get(), node.path);
        }
    }
    if (archive_write_close(out.get()) != ARCHIVE_OK) fail(out.get(), "cpio");
    return bytes;
}

void unpack_deb(const fs::path& deb, const fs::path& folder, bool (*keep)(string_view),
                const UnpackLimits& limits) {
    const std::string what = "package " + deb.string();
    const Reader outer(archive_read_new());
    archive_read_support_format_ar(outer.get());
    if (archive_read_open_filename(outer.get(), deb.c_str(), kBlock) != ARCHIVE_OK) {
        fail(outer.get(), what);
    }
    archive_entry* member = nullptr;
    while (next_entry(outer.get(), &member, what)) {
        const char* name = archive_entry_pathname(member);
        if (name == nullptr || !string_view(name).starts_with("data.tar")) continue;
        const Reader inner(archive_read_new());
        archive_read_support_format_tar(inner.get());
        archive_read_support_filter_xz(inner.get());
        archive_read_support_filter_gzip(inner.get());
        archive_read_support_filter_zstd(inner.get());
        const auto stream = std::make_unique<MemberStream>();
        stream->outer = outer.get();
        if (archive_read_open(inner.get(), stream.get(), nullptr, read_member, nullptr) !=
            ARCHIVE_OK) {
            fail(inner.get(), what);
        }
        unpack_entries(inner.get(), folder, keep, limits, what);
        return;
    }
    throw std::runtime_error(what + ": it has no data.tar member");
}

std::string read_unpacked(const fs::path& file, std::size_t limit) {
    const Reader in = raw_reader();
    if (archive_read_open_filename(in.get(), file.c_str(), kBlock) != ARCHIVE_OK) {
        fail(in.get(), file.string());
    }
    return read_all(in.get(), limit, file.string());
}

std::string unpack_bytes(string_view bytes, std::size_t limit) {
    const Reader in = raw_reader();
    if (archive_read_open_memory(in.get(), bytes.data(), bytes.size()) != ARCHIVE_OK) {
        fail(in.get(), "compressed bytes");
    }
    return read_all(in.get(), limit, "compressed bytes");
}

}  // namespace vsb::guest
