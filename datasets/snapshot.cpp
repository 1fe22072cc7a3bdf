#include "datasets/snapshot.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <system_error>
#include <utility>

namespace vsb::datasets {
namespace {

constexpr std::size_t kWalHeader = 32;
constexpr std::size_t kFrameHeader = 24;
constexpr std::uint32_t kMagicLittle = 0x377f0682;  // checksums over little-endian words
constexpr std::uint32_t kMagicBig = 0x377f0683;
constexpr std::size_t kWriteVersion = 18;  // offsets in the database's header
constexpr std::size_t kReadVersion = 19;
constexpr std::uint8_t kWalVersion = 2;

using Bytes = std::span<const std::uint8_t>;

std::uint32_t big_endian(Bytes bytes, std::size_t at) {
    return std::uint32_t{bytes[at]} << 24U | std::uint32_t{bytes[at + 1]} << 16U |
           std::uint32_t{bytes[at + 2]} << 8U | std::uint32_t{bytes[at + 3]};
}

std::uint32_t little_endian(Bytes bytes, std::size_t at) {
    return std::uint32_t{bytes[at + 3]} << 24U | std::uint32_t{bytes[at + 2]} << 16U |
           std::uint32_t{bytes[at + 1]} << 8U | std::uint32_t{bytes[at]};
}

struct Checksum {
    std::uint32_t first = 0;
    std::uint32_t second = 0;
    bool big = false;

    void add(Bytes bytes) {
        const auto word = big ? big_endian : little_endian;
        for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
            first += word(bytes, at) + second;
            second += word(bytes, at + 4) + first;
        }
    }
    bool equals(Bytes bytes, std::size_t at) const {
        return big_endian(bytes, at) == first && big_endian(bytes, at + 4) == second;
    }
};

// Empty when there is no such file.
std::vector<std::uint8_t> read_file(const std::filesystem::path& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (file < 0) {
        if (errno == ENOENT) return {};
        throw std::system_error(errno, std::generic_category(), "reading " + path.string());
    }
    std::vector<std::uint8_t> bytes;
    struct stat status {};
    if (fstat(file, &status) == 0) bytes.resize(static_cast<std::size_t>(status.st_size));
    std::size_t have = 0;
    ssize_t got = 1;
    while (have < bytes.size() && got > 0) {
        got = read(file, bytes.data() + have, bytes.size() - have);
        if (got > 0) have += static_cast<std::size_t>(got);
        if (got < 0 && errno == EINTR) got = 1;
    }
    const int error = got < 0 ? errno : 0;
    close(file);
    if (error != 0) {
        throw std::system_error(error, std::generic_category(), "reading " + path.string());
    }
    bytes.resize(have);
    return bytes;
}

struct Fingerprint {
    ino_t inode = 0;
    off_t size = 0;
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;
    bool operator==(const Fingerprint&) const = default;
};

Fingerprint fingerprint(const std::filesystem::path& path) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) return {};
    return {status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

}  // namespace

void apply_wal(std::vector<std::uint8_t>& database, std::span<const std::uint8_t> wal) {
    const auto leave_wal_mode = [&database] {
        if (database.size() <= kReadVersion) return;
        for (const std::size_t at : {kWriteVersion, kReadVersion}) {
            if (database[at] == kWalVersion) database[at] = 1;
        }
    };
    leave_wal_mode();
    if (wal.size() < kWalHeader) return;
    const std::uint32_t magic = big_endian(wal, 0);
    if (magic != kMagicLittle && magic != kMagicBig) return;
    Checksum sum{.big = magic == kMagicBig};
    sum.add(wal.first(kWalHeader - 8));
    if (!sum.equals(wal, kWalHeader - 8)) return;
    const std::size_t page_size = big_endian(wal, 8);
    if (page_size < 512 || page_size > 65536 || (page_size & (page_size - 1)) != 0) return;
    const Bytes salts = wal.subspan(16, 8);

    std::map<std::uint32_t, std::size_t> committed;  // page -> where its newest frame's data is
    std::map<std::uint32_t, std::size_t> pending;
    std::uint32_t pages = 0;
    for (std::size_t at = kWalHeader; at + kFrameHeader + page_size <= wal.size();
         at += kFrameHeader + page_size) {
        const Bytes header = wal.subspan(at, kFrameHeader);
        if (!std::ranges::equal(header.subspan(8, 8), salts)) break;
        sum.add(header.first(8));
        sum.add(wal.subspan(at + kFrameHeader, page_size));
        if (!sum.equals(header, 16)) break;
        const std::uint32_t page = big_endian(header, 0);
        if (page == 0) break;
        pending[page] = at + kFrameHeader;
        if (const std::uint32_t size_after_commit = big_endian(header, 4); size_after_commit != 0) {
            for (const auto& [number, where] : pending)
                committed[number] = where;
            pending.clear();
            pages = size_after_commit;
        }
    }
    if (pages == 0) return;
    // Every page past the old end was logged before its commit, so the size is bounded by what is
    // there; anything else is no log of this file.
    if (pages > database.size() / page_size + committed.size()) return;
    database.resize(std::size_t{pages} * page_size);
    for (const auto& [number, where] : committed) {
        if (number > pages) continue;
        std::memcpy(database.data() + (std::size_t{number} - 1) * page_size, wal.data() + where,
                    page_size);
    }
    leave_wal_mode();
}

sql::Database open_snapshot(const std::filesystem::path& file) {
    const std::filesystem::path log = file.string() + "-wal";
    std::vector<std::uint8_t> bytes;
    // A writer may come while we read; then what was read may be half of one thing and half of
    // another, and is read again.
    constexpr int kTries = 10;
    for (int tries = 1;; ++tries) {
        const auto before = std::pair(fingerprint(file), fingerprint(log));
        bytes = read_file(file);
        const auto wal = read_file(log);
        if (before == std::pair(fingerprint(file), fingerprint(log))) {
            apply_wal(bytes, wal);
            break;
        }
        if (tries == kTries) throw sql::Error(SQLITE_BUSY, "it is being written to all the time");
    }
    sql::Database database(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX);
    auto* owned =
        static_cast<unsigned char*>(sqlite3_malloc64(std::max<std::size_t>(bytes.size(), 1)));
    if (owned == nullptr) throw sql::Error(SQLITE_NOMEM, "out of memory");
    std::ranges::copy(bytes, owned);
    const auto size = static_cast<sqlite3_int64>(bytes.size());
    // FREEONCLOSE hands the buffer over, on failure too.
    const unsigned flags = SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY;
    database.check(sqlite3_deserialize(database.handle(), "main", owned, size, size, flags),
                   "reading the file");
    return database;
}

}  // namespace vsb::datasets
