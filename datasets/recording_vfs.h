#pragma once
// For tests: a disk that writes down everything SQLite does to it, so that a power cut at any
// moment can be played afterwards; and that can be full.

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace vsb::datasets {

struct DiskOperation {
    enum class Kind : std::uint8_t { write, truncate, sync, remove, mark };
    Kind kind = Kind::mark;
    std::string file;         // its path; empty for a mark
    std::int64_t offset = 0;  // of a write; size of a truncate; the number of a mark
    std::string bytes;
};

// While one lives, it is SQLite's default VFS, over the system's own. One at a time.
class RecordingDisk {
  public:
    RecordingDisk();
    ~RecordingDisk();
    RecordingDisk(const RecordingDisk&) = delete;
    RecordingDisk& operator=(const RecordingDisk&) = delete;

    void mark(std::int64_t number);  // what the program promised to have stored by now
    const std::vector<DiskOperation>& operations() const;
    // Writes past this many more bytes find the disk full; negative: never.
    void set_room(std::int64_t bytes);

    struct State;

  private:
    std::unique_ptr<State> state_;
};

struct DiskAfterCut {
    std::map<std::string, std::string> files;  // path -> bytes
    std::int64_t last_mark = 0;
};

// What a disk holds when the power goes after the first `count` operations: everything synced, and
// of the rest any part, in sectors of 512 bytes, as random decides. With syncs_lie, nothing is
// ever synced.
DiskAfterCut cut_power(const std::vector<DiskOperation>& operations, std::size_t count,
                       std::mt19937_64& random, bool syncs_lie = false);

}  // namespace vsb::datasets
