#pragma once
// A store read as of now without writing a byte, for files that no process has open: the main
// file's bytes with the committed frames of its write-ahead log laid over them.
// Format: sqlite.org/fileformat2.html, "The Write-Ahead Log".

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "datasets/sqlite.h"

namespace vsb::datasets {

// Lays the frames of wal up to its last commit over database. Frames that are torn, of an older
// round, or not committed are left out, as SQLite's own recovery does. The result is marked as not
// being in WAL mode, so that it can be opened from memory.
void apply_wal(std::vector<std::uint8_t>& database, std::span<const std::uint8_t> wal);

// An in-memory connection over a copy of the file (and of FILE-wal, where there is one).
// Throws sql::Error; std::system_error when the file cannot be read.
sql::Database open_snapshot(const std::filesystem::path& file);

}  // namespace vsb::datasets
