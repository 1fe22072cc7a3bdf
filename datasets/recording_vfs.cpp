#include "datasets/recording_vfs.h"

#include <sqlite3.h>

#include <algorithm>
#include <new>
#include <stdexcept>

namespace vsb::datasets {
namespace {

constexpr const char* kName = "recording";
constexpr std::int64_t kSector = 512;

using Kind = DiskOperation::Kind;

}  // namespace

struct RecordingDisk::State {
    sqlite3_vfs vfs{};
    sqlite3_vfs* real = nullptr;
    std::vector<DiskOperation> operations;
    std::int64_t room = -1;
};

namespace {

// SQLite allocates szOsFile bytes for this, with the real VFS's own file behind it.
struct File {
    sqlite3_file base;
    RecordingDisk::State* disk;
    std::string* path;
    sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

File& self(sqlite3_file* file) {
    return *reinterpret_cast<File*>(file);
}
sqlite3_file* real(sqlite3_file* file) {
    return self(file).real();
}
RecordingDisk::State& disk(sqlite3_vfs* vfs) {
    return *static_cast<RecordingDisk::State*>(vfs->pAppData);
}

int close_file(sqlite3_file* file) {
    const int code = real(file)->pMethods->xClose(real(file));
    delete self(file).path;
    return code;
}

int read_file(sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
    return real(file)->pMethods->xRead(real(file), to, size, offset);
}

int write_file(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
    File& me = self(file);
    if (me.disk->room >= 0) {
        if (me.disk->room < size) return SQLITE_FULL;
        me.disk->room -= size;
    }
    me.disk->operations.push_back(
        {Kind::write, *me.path, offset,
         std::string(static_cast<const char*>(from), static_cast<std::size_t>(size))});
    return me.real()->pMethods->xWrite(me.real(), from, size, offset);
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
    self(file).disk->operations.push_back({Kind::truncate, *self(file).path, size, {}});
    return real(file)->pMethods->xTruncate(real(file), size);
}

int sync_file(sqlite3_file* file, int /*flags*/) {
    // The real file need not be synced: a cut is played from the record.
    self(file).disk->operations.push_back({Kind::sync, *self(file).path, 0, {}});
    return SQLITE_OK;
}

const sqlite3_io_methods kMethods = {
    2,
    close_file,
    read_file,
    write_file,
    truncate_file,
    sync_file,
    [](sqlite3_file* f, sqlite3_int64* size) {
        return real(f)->pMethods->xFileSize(real(f), size);
    },
    [](sqlite3_file* f, int lock) { return real(f)->pMethods->xLock(real(f), lock); },
    [](sqlite3_file* f, int lock) { return real(f)->pMethods->xUnlock(real(f), lock); },
    [](sqlite3_file* f, int* out) { return real(f)->pMethods->xCheckReservedLock(real(f), out); },
    [](sqlite3_file* f, int op, void* arg) {
        return real(f)->pMethods->xFileControl(real(f), op, arg);
    },
    [](sqlite3_file* f) { return real(f)->pMethods->xSectorSize(real(f)); },
    [](sqlite3_file* f) { return real(f)->pMethods->xDeviceCharacteristics(real(f)); },
    [](sqlite3_file* f, int page, int size, int extend, void volatile** out) {
        return real(f)->pMethods->xShmMap(real(f), page, size, extend, out);
    },
    [](sqlite3_file* f, int offset, int n, int flags) {
        return real(f)->pMethods->xShmLock(real(f), offset, n, flags);
    },
    [](sqlite3_file* f) { real(f)->pMethods->xShmBarrier(real(f)); },
    [](sqlite3_file* f, int remove) { return real(f)->pMethods->xShmUnmap(real(f), remove); },
    nullptr,
    nullptr,
};

int open_file(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out) {
    RecordingDisk::State& state = disk(vfs);
    File& me = self(file);
    me.base.pMethods = nullptr;
    const int code = state.real->xOpen(state.real, name, me.real(), flags, out);
    if (me.real()->pMethods == nullptr) return code;
    me.disk = &state;
    me.path = new std::string(name != nullptr ? name : "");
    me.base.pMethods = &kMethods;
    return code;
}

int delete_file(sqlite3_vfs* vfs, const char* name, int sync_folder) {
    const int code = disk(vfs).real->xDelete(disk(vfs).real, name, sync_folder);
    if (code == SQLITE_OK) disk(vfs).operations.push_back({Kind::remove, name, 0, {}});
    return code;
}

struct OnDisk {
    std::string durable;
    std::vector<const DiskOperation*> pending;
};

void apply(std::string& bytes, const DiskOperation& operation, std::int64_t size) {
    if (operation.kind == Kind::truncate) {
        bytes.resize(static_cast<std::size_t>(operation.offset));
        return;
    }
    const auto end = static_cast<std::size_t>(operation.offset + size);
    if (bytes.size() < end) bytes.resize(end);
    std::copy_n(operation.bytes.begin(), size,
                bytes.begin() + static_cast<std::ptrdiff_t>(operation.offset));
}

std::int64_t whole(const DiskOperation& operation) {
    return static_cast<std::int64_t>(operation.bytes.size());
}

void settle(OnDisk& file) {
    for (const DiskOperation* each : file.pending)
        apply(file.durable, *each, whole(*each));
    file.pending.clear();
}

}  // namespace

RecordingDisk::RecordingDisk() : state_(std::make_unique<State>()) {
    State& state = *state_;
    state.real = sqlite3_vfs_find("unix");
    if (state.real == nullptr) throw std::runtime_error("SQLite has no unix VFS");
    state.vfs = *state.real;  // clocks, randomness, paths: as they are
    state.vfs.iVersion = 1;
    state.vfs.pNext = nullptr;
    state.vfs.zName = kName;
    state.vfs.pAppData = &state;
    state.vfs.szOsFile = static_cast<int>(sizeof(File)) + state.real->szOsFile;
    state.vfs.xOpen = open_file;
    state.vfs.xDelete = delete_file;
    // These look into pAppData, which is ours now.
    state.vfs.xAccess = [](sqlite3_vfs* vfs, const char* name, int flags, int* out) {
        return disk(vfs).real->xAccess(disk(vfs).real, name, flags, out);
    };
    state.vfs.xFullPathname = [](sqlite3_vfs* vfs, const char* name, int size, char* out) {
        return disk(vfs).real->xFullPathname(disk(vfs).real, name, size, out);
    };
    sqlite3_vfs_register(&state.vfs, 1);
}

RecordingDisk::~RecordingDisk() {
    sqlite3_vfs_unregister(&state_->vfs);
    sqlite3_vfs_register(state_->real, 1);
}

void RecordingDisk::mark(std::int64_t number) {
    state_->operations.push_back({Kind::mark, {}, number, {}});
}

const std::vector<DiskOperation>& RecordingDisk::operations() const {
    return state_->operations;
}

void RecordingDisk::set_room(std::int64_t bytes) {
    state_->room = bytes;
}

DiskAfterCut cut_power(const std::vector<DiskOperation>& operations, std::size_t count,
                       std::mt19937_64& random, bool syncs_lie) {
    DiskAfterCut result;
    std::map<std::string, OnDisk> files;
    for (std::size_t i = 0; i < count; ++i) {
        const DiskOperation& each = operations.at(i);
        switch (each.kind) {
            case Kind::mark:
                result.last_mark = each.offset;
                break;
            case Kind::remove:
                files.erase(each.file);
                break;
            case Kind::sync:
                if (!syncs_lie) settle(files[each.file]);
                break;
            case Kind::write:
            case Kind::truncate:
                files[each.file].pending.push_back(&each);
                break;
        }
    }
    for (auto& [path, file] : files) {
        for (const DiskOperation* each : file.pending) {
            const auto sectors = (whole(*each) + kSector - 1) / kSector;
            // Nothing, all of it, or its first sectors.
            const auto kept = static_cast<std::int64_t>(random() % 3);
            if (kept == 0) continue;
            const auto torn =
                static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(sectors + 1));
            apply(file.durable, *each,
                  kept == 1 ? whole(*each) : std::min(whole(*each), torn * kSector));
        }
        result.files[path] = file.durable;
    }
    return result;
}

}  // namespace vsb::datasets
