#include "datasets/opening.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <string>
#include <system_error>

#include "datasets/schema_check.h"
#include "datasets/snapshot.h"

namespace vsb::datasets {
namespace {

namespace fs = std::filesystem;

constexpr int kBusyTimeoutMs = 20000;

[[noreturn]] void refuse(const fs::path& file, const std::string& why, const std::string& mend) {
    throw StoreUnusable("the store " + file.string() + " cannot be used: " + why + " (" + mend +
                        ")");
}

const char* mend_for(int primary_code) {
    switch (primary_code) {
        case SQLITE_NOTADB:
        case SQLITE_CORRUPT:
            return "it is left as it is; take a copy of it, try `sqlite3 FILE .recover`, or give "
                   "another file";
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return "another process is writing; try again when it is done";
        case SQLITE_FULL:
            return "make room on the disk, or give a file on another one";
        case SQLITE_READONLY:
        case SQLITE_PERM:
        case SQLITE_CANTOPEN:
        case SQLITE_AUTH:
            return "give yourself the right to write the file and its folder, or give another file";
        default:
            return "look after the disk it lies on, or give another file";
    }
}

enum class Found { nothing, store_or_journal };

// What can be told without SQLite touching the file: opening a foreign file with it may roll back
// or check in that file's own logs.
Found look_at(const fs::path& file, OpenMode mode) {
    std::error_code error;
    const auto status = fs::status(file, error);
    if (status.type() == fs::file_type::not_found) {
        if (mode == OpenMode::read_only) {
            refuse(file, "there is no such file",
                   "record a run first, or name an existing store with --db");
        }
        const auto folder = file.parent_path();
        if (!fs::is_directory(folder, error)) {
            refuse(file, "its folder " + folder.string() + " does not exist", "make the folder");
        }
        return Found::nothing;
    }
    if (error) refuse(file, error.message(), mend_for(SQLITE_CANTOPEN));
    if (status.type() == fs::file_type::directory) {
        refuse(file, "it is a folder", "name a file in it");
    }
    if (status.type() != fs::file_type::regular) {
        refuse(file, "it is not a regular file", "name a regular file");
    }

    std::ifstream in(file, std::ios::binary);
    if (!in) {
        const std::error_code why(errno, std::generic_category());
        refuse(file, "it cannot be read: " + why.message(), "give yourself the right to read it");
    }
    constexpr std::size_t kHeader = 100;
    constexpr std::string_view kMagic{"SQLite format 3\0", 16};
    constexpr std::size_t kApplicationIdAt = 68;
    std::array<char, kHeader> header{};
    in.read(header.data(), header.size());
    const auto size = static_cast<std::size_t>(in.gcount());
    if (size == 0) {
        if (mode == OpenMode::read_only) {
            refuse(file, "it is empty", "record a run into it first");
        }
        return Found::nothing;
    }
    // With a rollback journal beside it, the file is not the truth yet: an interrupted creation.
    if (fs::exists(file.string() + "-journal", error)) return Found::store_or_journal;
    if (size < kHeader || std::string_view(header.data(), kMagic.size()) != kMagic) {
        refuse(file, "it is not an SQLite file", "it is left as it is; give another file");
    }
    std::uint32_t application_id = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        application_id =
            application_id << 8U | static_cast<unsigned char>(header.at(kApplicationIdAt + i));
    }
    if (application_id != static_cast<std::uint32_t>(kApplicationId)) {
        refuse(file, "it is an SQLite file of another program",
               "it is left as it is; give another file");
    }
    return Found::store_or_journal;
}

void harden(sql::Database& database) {
    sqlite3_busy_timeout(database.handle(), kBusyTimeoutMs);
    sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    database.execute("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0");
}

void set_user_version(sql::Database& database, int version) {
    database.execute(("PRAGMA user_version = " + std::to_string(version)).c_str());
}

int schema_version(sql::Database& database) {
    return static_cast<int>(database.integer("PRAGMA user_version"));
}

void apply(sql::Database& database, std::span<const Migration> steps, int from) {
    for (const Migration& step : steps) {
        if (step.version <= from) continue;
        database.execute(step.script);
        set_user_version(database, step.version);
    }
}

// In one transaction, and before WAL mode is entered: so the main file's header names us from the
// moment it has one.
void create_schema(sql::Database& database, std::span<const Migration> steps) {
    sql::Transaction transaction(database, sql::Transaction::Kind::write);
    if (database.integer("SELECT count(*) FROM sqlite_schema") != 0) return;  // another was faster
    database.execute(("PRAGMA application_id = " + std::to_string(kApplicationId)).c_str());
    apply(database, steps, 0);
    transaction.commit();
}

fs::path backup(sql::Database& database, const fs::path& file, int version) {
    const std::string stem = file.string() + ".v" + std::to_string(version) + "-backup";
    fs::path copy = stem;
    for (int number = 2; fs::exists(copy); ++number)
        copy = stem + "-" + std::to_string(number);
    // VACUUM INTO refuses a file that exists, and syncs what it wrote.
    sql::Statement statement(database, "VACUUM INTO ?");
    statement.bind(1, copy.string()).run();
    return copy;
}

void migrate(sql::Database& database, const fs::path& file, std::span<const Migration> steps) {
    const int target = steps.back().version;
    const int before = schema_version(database);
    fs::path copy;
    try {
        copy = backup(database, file, before);
    } catch (const sql::Error& error) {
        refuse(file,
               "it has schema " + std::to_string(before) +
                   " and no backup could be made: " + error.what(),
               "make room beside it for a second copy");
    }
    try {
        sql::Transaction transaction(database, sql::Transaction::Kind::write);
        // Another process may have done it while we made the backup.
        if (const int now = schema_version(database); now < target) apply(database, steps, now);
        sql::Statement dangling(database, "PRAGMA foreign_key_check");
        if (dangling.step()) throw sql::Error(SQLITE_CONSTRAINT, "rows without their parent");
        transaction.commit();
    } catch (const sql::Error& error) {
        refuse(file,
               "it could not be brought from schema " + std::to_string(before) + " to " +
                   std::to_string(target) + ": " + error.what(),
               "it is as it was; a copy is in " + copy.string());
    }
}

void check_identity(sql::Database& database, const fs::path& file, int newest) {
    if (database.integer("PRAGMA application_id") != kApplicationId) {
        refuse(file, "it is an SQLite file of another program",
               "it is left as it is; give another file");
    }
    const int version = schema_version(database);
    if (version > newest) {
        refuse(file,
               "it has schema " + std::to_string(version) + ", made by a newer program; this one " +
                   "knows schema " + std::to_string(newest),
               "use a newer vsockbench, or another file");
    }
    if (version < 1) refuse(file, "its schema has no number", mend_for(SQLITE_CORRUPT));
}

void check_whole(sql::Database& database, const fs::path& file) {
    const std::string answer = database.text("PRAGMA quick_check(1)");
    if (answer != "ok") refuse(file, "it is damaged: " + answer, mend_for(SQLITE_CORRUPT));
}

void check_schema(sql::Database& database, const fs::path& file, std::span<const Migration> steps) {
    const int version = schema_version(database);
    std::size_t known = 0;
    while (known < steps.size() && steps[known].version <= version)
        ++known;
    if (const auto why = schema_difference(database, steps.first(known))) {
        refuse(file, *why, mend_for(SQLITE_CORRUPT));
    }
}

// Proves that a commit reaches the disk before anything is measured.
void check_writable(sql::Database& database, const fs::path& file) {
    if (sqlite3_db_readonly(database.handle(), "main") != 0) {
        refuse(file, "it may only be read", mend_for(SQLITE_READONLY));
    }
    sql::Transaction transaction(database, sql::Transaction::Kind::write);
    set_user_version(database, schema_version(database));
    transaction.commit();
}

sql::Database open_for_writing(const fs::path& file, std::span<const Migration> steps) {
    look_at(file, OpenMode::read_write);
    sql::Database database(file.string(),
                           SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX);
    harden(database);
    database.execute("PRAGMA foreign_keys = ON");
    if (sqlite3_db_readonly(database.handle(), "main") != 0) {
        refuse(file, "it may only be read", mend_for(SQLITE_READONLY));
    }
    if (database.integer("PRAGMA application_id") == 0 &&
        database.integer("SELECT count(*) FROM sqlite_schema") == 0) {
        create_schema(database, steps);
    }
    check_identity(database, file, steps.back().version);
    check_whole(database, file);
    check_schema(database, file, steps);
    if (database.text("PRAGMA journal_mode = WAL") != "wal") {
        refuse(file, "write-ahead logging cannot be used there", "give a file on a local disk");
    }
    database.execute("PRAGMA synchronous = FULL");
    if (schema_version(database) < steps.back().version) migrate(database, file, steps);
    check_writable(database, file);
    return database;
}

// Entering WAL mode while another process creates the same file is refused as busy at once,
// whatever the busy timeout says; so the opening as a whole is tried again.
sql::Database open_for_writing_patiently(const fs::path& file, std::span<const Migration> steps) {
    using Clock = std::chrono::steady_clock;
    const auto deadline = Clock::now() + std::chrono::milliseconds(kBusyTimeoutMs);
    while (true) {
        try {
            return open_for_writing(file, steps);
        } catch (const sql::Error& error) {
            if (error.primary() != SQLITE_BUSY || Clock::now() >= deadline) throw;
        }
        constexpr int kPauseMs = 5;
        sqlite3_sleep(kPauseMs);
    }
}

// A log with its index beside it may have a live writer, and SQLite reads them under locks.
// Without both, nobody has the store open, and SQLite would make the missing ones: so we read a
// snapshot.
sql::Database connect_for_reading(const fs::path& file) {
    std::error_code error;
    if (fs::exists(file.string() + "-wal", error) && fs::exists(file.string() + "-shm", error)) {
        try {
            sql::Database database(file.string(), SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX);
            sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
            harden(database);
            database.integer("PRAGMA application_id");
            return database;
        } catch (const sql::Error& why) {
            // What a dead writer left in a folder that we may not write in.
            if (why.primary() != SQLITE_CANTOPEN && why.primary() != SQLITE_READONLY) throw;
        }
    }
    auto database = open_snapshot(file);
    harden(database);
    return database;
}

sql::Database open_for_reading(const fs::path& file, std::span<const Migration> steps) {
    look_at(file, OpenMode::read_only);
    auto database = connect_for_reading(file);
    database.execute("PRAGMA query_only = ON");
    check_identity(database, file, steps.back().version);
    check_whole(database, file);
    check_schema(database, file, steps);
    if (const int version = schema_version(database); version < steps.back().version) {
        refuse(file,
               "it has the older schema " + std::to_string(version) + " and is opened for reading",
               "open it once for writing, as `vsockbench run` does: it is migrated after a backup");
    }
    return database;
}

}  // namespace

sql::Database open_checked(const fs::path& given, OpenMode mode, std::span<const Migration> steps) {
    // Absolute, so that no name is taken for an option or a URI by SQLite.
    const fs::path file = fs::absolute(given);
    try {
        return mode == OpenMode::read_only ? open_for_reading(file, steps)
                                           : open_for_writing_patiently(file, steps);
    } catch (const sql::Error& error) {
        refuse(file, error.what(), mend_for(error.primary()));
    } catch (const std::system_error& error) {
        refuse(file, error.what(), mend_for(SQLITE_CANTOPEN));
    }
}

}  // namespace vsb::datasets
