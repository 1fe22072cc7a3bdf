#include "datasets/opening.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <random>

#include "datasets/child_process.h"
#include "datasets/store_fixture.h"

namespace vsb::datasets {
namespace {

using testing::AllOf;
using testing::HasSubstr;

namespace fs = std::filesystem;

constexpr std::uint64_t kSeed = 20261130;

class OpeningTest : public testing::Test {
  protected:
    fs::path file() const { return scratch_.file("runs.db"); }
    const ScratchFolder& scratch() const { return scratch_; }
    // Every file of the folder with its bytes.
    std::map<std::string, std::string> folder() const {
        std::map<std::string, std::string> files;
        for (const auto& entry : fs::directory_iterator(scratch_.path())) {
            files[entry.path().filename().string()] = read_bytes(entry.path());
        }
        return files;
    }
    void make_store(std::int64_t pairs = 2) const {
        Store store = Store::open(file(), OpenMode::read_write);
        const auto experiment = store.create(small_experiment());
        record_pairs(store, experiment, pairs);
        store.set_status(experiment.id, ExperimentStatus::finished);
    }
    // Refused in both modes, saying this, and nothing in the folder changed.
    void expect_refused(const std::string& why) const {
        const auto before = folder();
        for (const auto mode : {OpenMode::read_write, OpenMode::read_only}) {
            EXPECT_THAT(refusal(file(), mode), AllOf(HasSubstr(file().string()), HasSubstr(why)));
            EXPECT_TRUE(folder() == before) << "the folder changed";
        }
    }

  private:
    ScratchFolder scratch_;
};

TEST_F(OpeningTest, ANewStoreIsWhatItShouldBe) {
    make_store();
    EXPECT_EQ(query_integer(file(), "PRAGMA application_id"), kApplicationId);
    EXPECT_EQ(query_integer(file(), "PRAGMA user_version"), migrations().back().version);
    EXPECT_EQ(query_text(file(), "PRAGMA journal_mode"), "wal");
    EXPECT_EQ(query_text(file(), "PRAGMA integrity_check"), "ok");
    EXPECT_EQ(query_integer(file(),
                            "SELECT count(*) FROM pragma_table_list WHERE schema = 'main' "
                            "AND type = 'table' AND NOT strict "
                            "AND name NOT LIKE 'sqlite_%'"),
              0);
    auto database = open_checked(file(), OpenMode::read_write);
    EXPECT_EQ(database.integer("PRAGMA synchronous"), 2);
    EXPECT_EQ(database.integer("PRAGMA foreign_keys"), 1);
    EXPECT_EQ(database.integer("PRAGMA trusted_schema"), 0);
    EXPECT_GE(database.integer("PRAGMA busy_timeout"), 10000);
}

TEST_F(OpeningTest, AnEmptyFileBecomesAStore) {
    write_bytes(file(), "");
    EXPECT_THAT(refusal(file(), OpenMode::read_only), HasSubstr("it is empty"));
    EXPECT_EQ(read_bytes(file()), "");
    EXPECT_EQ(refusal(file()), "");
    EXPECT_EQ(refusal(file(), OpenMode::read_only), "");
}

TEST_F(OpeningTest, RefusesWhatIsNoFileOfOurs) {
    EXPECT_THAT(refusal(file(), OpenMode::read_only), HasSubstr("there is no such file"));
    EXPECT_FALSE(fs::exists(file()));
    EXPECT_THAT(refusal(scratch().file("no/such/folder.db")), HasSubstr("does not exist"));
    EXPECT_THAT(refusal(scratch().path()), HasSubstr("it is a folder"));
    EXPECT_THAT(refusal("/dev/null"), HasSubstr("not a regular file"));
    const auto fifo = scratch().file("fifo");
    ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
    EXPECT_THAT(refusal(fifo), HasSubstr("not a regular file"));
    EXPECT_THAT(refusal(fifo, OpenMode::read_only), HasSubstr("not a regular file"));
    fs::remove(fifo);

    write_bytes(file(), "workload,pair,order,state,value\n");
    expect_refused("it is not an SQLite file");
    write_bytes(file(), std::string("SQLite format 3\0", 16) + "and no more");
    expect_refused("it is not an SQLite file");
}

TEST_F(OpeningTest, AForeignDatabaseIsNotTouched) {
    run_sql(file(),
            "PRAGMA journal_mode = WAL; CREATE TABLE bookmarks (url TEXT);"
            "INSERT INTO bookmarks VALUES ('x');");
    expect_refused("SQLite file of another program");
    // Nor is its log, which opening the file with SQLite would have checked in.
    write_bytes(file().string() + "-wal", "what another program will want");
    expect_refused("SQLite file of another program");
}

// With a journal beside it the header is not the truth yet, so SQLite itself is asked.
TEST_F(OpeningTest, AForeignDatabaseWithAJournalIsRefusedToo) {
    run_sql(file(), "CREATE TABLE theirs (x); PRAGMA application_id = 7");
    write_bytes(file().string() + "-journal", "");
    for (const auto mode : {OpenMode::read_write, OpenMode::read_only}) {
        EXPECT_THAT(refusal(file(), mode), HasSubstr("an SQLite file of another program"));
    }
}

TEST_F(OpeningTest, RandomFilesAreRefusedAndLeftAsTheyAre) {
    std::mt19937_64 random(kSeed);
    for (const std::size_t size : {1U, 15U, 16U, 99U, 100U, 511U, 4096U, 70'000U}) {
        for (const bool like_sqlite : {false, true}) {
            std::string bytes(size, '\0');
            for (char& byte : bytes)
                byte = static_cast<char>(random());
            if (like_sqlite) bytes.replace(0, 16, std::string("SQLite format 3\0", 16));
            write_bytes(file(), bytes);
            expect_refused("cannot be used");
        }
        // The worst: a header that names us over noise.
        if (size < 200) continue;
        fs::remove(file());
        make_store();
        auto bytes = read_bytes(file());
        for (std::size_t i = 100; i < std::min(size, bytes.size()); ++i) {
            bytes[i] = static_cast<char>(random());
        }
        write_bytes(file(), bytes);
        EXPECT_NE(refusal(file(), OpenMode::read_only), "");
        EXPECT_NE(refusal(file()), "");
        EXPECT_EQ(read_bytes(file()), bytes);
        fs::remove(file());
    }
}

TEST_F(OpeningTest, AFileCutShortIsRefused) {
    make_store();
    const auto whole = read_bytes(file());
    for (std::size_t size = 4096; size < whole.size(); size += 4096) {
        write_bytes(file(), whole.substr(0, size));
        const auto before = read_bytes(file());
        EXPECT_THAT(refusal(file(), OpenMode::read_only), HasSubstr("cannot be used")) << size;
        EXPECT_THAT(refusal(file()), HasSubstr("cannot be used")) << size;
        EXPECT_EQ(read_bytes(file()), before);
    }
}

// A flipped bit is found, or at least harmless: nothing but StoreUnusable may come of it.
TEST_F(OpeningTest, ByteFlipsAreRefusedOrRead) {
    make_store(6);
    const auto whole = read_bytes(file());
    std::mt19937_64 random(kSeed);
    std::size_t refused = 0;
    constexpr std::size_t kFlips = 250;
    for (std::size_t i = 0; i < kFlips; ++i) {
        auto bytes = whole;
        // Half of them in the first page of the schema, where they do most.
        std::size_t at = 0;
        do {
            at = random() % (i % 2 == 0 ? 4096 : bytes.size());
        } while (bytes[at] == 0);  // pages are mostly empty: a flip there is never seen
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << (random() % 8)));
        write_bytes(file(), bytes);
        try {
            const Store store = Store::open(file(), OpenMode::read_only);
            for (const auto& experiment : store.experiments()) {
                store.find(std::to_string(experiment.id));
                store.trials(experiment.id, true);
                store.paired(experiment.id);
            }
        } catch (const StoreUnusable&) {
            ++refused;
        } catch (const std::invalid_argument&) {
            // A label or a number of an experiment that reads otherwise now.
        }
        EXPECT_EQ(read_bytes(file()), bytes);
    }
    EXPECT_GT(refused, kFlips / 10);
    // What names the file is looked at byte by byte.
    for (const std::size_t at : {0U, 15U, 19U, 68U, 71U}) {
        auto bytes = whole;
        bytes[at] = static_cast<char>(bytes[at] ^ 0x41);
        write_bytes(file(), bytes);
        EXPECT_NE(refusal(file(), OpenMode::read_only), "") << at;
        EXPECT_NE(refusal(file()), "") << at;
    }
}

// Opening itself reads no page of this table: only looking at the whole file finds it.
TEST_F(OpeningTest, ADamagedPageThatNobodyAskedForIsRefused) {
    make_store();
    const auto root = static_cast<std::size_t>(
        query_integer(file(), "SELECT rootpage FROM sqlite_schema WHERE name = 'measurement'"));
    const auto size = static_cast<std::size_t>(query_integer(file(), "PRAGMA page_size"));
    std::string bytes = read_bytes(file());
    bytes.at((root - 1) * size) = 0;  // the kind of page
    write_bytes(file(), bytes);
    expect_refused("it is damaged");
}

TEST_F(OpeningTest, ANewerStoreIsRefused) {
    make_store();
    run_sql(file(), "PRAGMA user_version = 999; PRAGMA wal_checkpoint(TRUNCATE)");
    expect_refused("made by a newer program");
    run_sql(file(), "PRAGMA user_version = 0; PRAGMA wal_checkpoint(TRUNCATE)");
    expect_refused("its schema has no number");
}

TEST_F(OpeningTest, ASchemaThatIsNotOursIsRefused) {
    const auto refused_after = [&](const std::string& change) {
        fs::remove(file());
        make_store();
        run_sql(file(), change);
        return refusal(file()) + refusal(file(), OpenMode::read_only);
    };
    EXPECT_THAT(refused_after("DROP VIEW v_pairs"), HasSubstr("view v_pairs is missing"));
    EXPECT_THAT(refused_after("DROP VIEW v_pairs; CREATE VIEW v_pairs AS SELECT 1"),
                HasSubstr("view v_pairs was changed"));
    EXPECT_THAT(refused_after("DROP INDEX trial_one_ok"), HasSubstr("trial_one_ok is missing"));
    EXPECT_THAT(refused_after("CREATE TRIGGER t AFTER INSERT ON trial BEGIN "
                              "UPDATE measurement SET value = 1; END"),
                HasSubstr("it has a trigger, t"));
    // What a user adds beside it is the user's affair.
    EXPECT_EQ(refused_after("CREATE VIEW mine AS SELECT * FROM v_pairs; CREATE TABLE notes (t);"
                            "CREATE INDEX by_start ON trial (started)"),
              "");
}

TEST_F(OpeningTest, ReadingWritesNothing) {
    make_store();
    const auto before = folder();
    ASSERT_EQ(before.size(), 1U);
    {
        const Store store = Store::open(file(), OpenMode::read_only);
        EXPECT_EQ(store.paired(1).at(0).pairs.size(), 2U);
        EXPECT_TRUE(folder() == before);
    }
    EXPECT_TRUE(folder() == before);
}

TEST_F(OpeningTest, ReadingSeesTheLogOfALiveWriterAndWhatItAdds) {
    Store writer = Store::open(file(), OpenMode::read_write);
    const auto experiment = writer.create(small_experiment());
    record_pairs(writer, experiment, 1);
    const Store reader = Store::open(file(), OpenMode::read_only);
    EXPECT_EQ(reader.trials(experiment.id).size(), 2U);
    writer.add(experiment.id, ok_trial(experiment, 0, 0, 2, PairOrder::ab, 1));
    EXPECT_EQ(reader.trials(experiment.id).size(), 3U);
}

// What a crash leaves: a log that holds all the trials, with or without its index.
TEST_F(OpeningTest, ReadingSeesTheLogThatADeadWriterLeft) {
    const ScratchFolder original;
    const auto live = original.file("runs.db");
    Store writer = Store::open(live, OpenMode::read_write);
    const auto experiment = writer.create(small_experiment());
    record_pairs(writer, experiment, 3);
    for (const char* part : {"", "-wal"}) {
        fs::copy_file(live.string() + part, file().string() + part);
    }
    const auto before = folder();
    {
        const Store reader = Store::open(file(), OpenMode::read_only);
        EXPECT_EQ(reader.paired(experiment.id).at(0).pairs.size(), 3U);
    }
    EXPECT_TRUE(folder() == before);
    fs::copy_file(live.string() + "-shm", file().string() + "-shm");
    const Store reader = Store::open(file(), OpenMode::read_only);
    EXPECT_EQ(reader.paired(experiment.id).at(0).pairs.size(), 3U);
}

constexpr Migration kFirst{1, "CREATE TABLE run (id INTEGER PRIMARY KEY, value REAL NOT NULL)"};
constexpr Migration kSecond{2, "ALTER TABLE run ADD COLUMN unit TEXT NOT NULL DEFAULT '1'"};
constexpr Migration kThird{3, "CREATE VIEW v_run AS SELECT value, unit FROM run"};
constexpr Migration kFailing{2, "CREATE TABLE more (id INTEGER); INSERT INTO run VALUES (7, NULL)"};

class MigrationTest : public OpeningTest {
  protected:
    void make_old() const {
        open_checked(file(), OpenMode::read_write, kOld)
            .execute("INSERT INTO run (value) VALUES (1.5), (2.5)");
    }
    static constexpr std::array<Migration, 1> kOld{kFirst};
    static constexpr std::array<Migration, 3> kNew{kFirst, kSecond, kThird};
    static constexpr std::array<Migration, 2> kBroken{kFirst, kFailing};
};

TEST_F(MigrationTest, AnOlderStoreIsBackedUpThenMigrated) {
    make_old();
    {
        auto database = open_checked(file(), OpenMode::read_write, kNew);
        EXPECT_EQ(database.integer("PRAGMA user_version"), 3);
        EXPECT_EQ(database.text("SELECT group_concat(value || unit) FROM v_run"), "1.51,2.51");
    }
    const auto backup = scratch().file("runs.db.v1-backup");
    EXPECT_EQ(query_integer(backup, "PRAGMA user_version"), 1);
    EXPECT_EQ(query_integer(backup, "PRAGMA application_id"), kApplicationId);
    EXPECT_EQ(query_text(backup, "SELECT group_concat(value) FROM run"), "1.5,2.5");
    // Once is enough, and a backup is usable in its own right.
    open_checked(file(), OpenMode::read_write, kNew);
    EXPECT_EQ(folder().size(), 2U);
    open_checked(backup, OpenMode::read_only, kOld);
}

TEST_F(MigrationTest, AFailedMigrationLeavesTheStoreAsItWas) {
    make_old();
    for (const char* backup : {"runs.db.v1-backup", "runs.db.v1-backup-2"}) {
        try {
            open_checked(file(), OpenMode::read_write, kBroken);
            FAIL() << "migrated";
        } catch (const StoreUnusable& error) {
            EXPECT_THAT(error.what(), AllOf(HasSubstr("from schema 1 to 2"), HasSubstr(backup)));
        }
        EXPECT_TRUE(fs::exists(scratch().file(backup)));
    }
    auto database = open_checked(file(), OpenMode::read_write, kOld);
    EXPECT_EQ(database.integer("SELECT count(*) FROM run"), 2);
    EXPECT_EQ(database.integer("SELECT count(*) FROM sqlite_schema"), 1);
}

TEST_F(MigrationTest, ReadingDoesNotMigrate) {
    make_old();
    const auto before = folder();
    EXPECT_THROW(open_checked(file(), OpenMode::read_only, kNew), StoreUnusable);
    EXPECT_TRUE(folder() == before);
}

// The rest as a user without rights: root may write everywhere.
class UnprivilegedTest : public OpeningTest {
  protected:
    static constexpr uid_t kNobody = 65534;

    void SetUp() override {
        if (geteuid() != 0) GTEST_SKIP() << "only root can become another user for this";
        ASSERT_EQ(chmod(scratch().path().c_str(), 0755), 0);
    }
    // What refusal() says for that user.
    static std::string refusal_as_nobody(const fs::path& path, OpenMode mode) {
        Pipe answer;
        Child child([&] {
            if (setresgid(kNobody, kNobody, kNobody) != 0) _exit(1);
            if (setresuid(kNobody, kNobody, kNobody) != 0) _exit(1);
            const std::string said = refusal(path, mode);
            const auto size = static_cast<ssize_t>(said.size());
            if (write(answer.write_end(), said.data(), said.size()) != size) _exit(2);
        });
        answer.close_write_end();
        std::string said;
        std::array<char, 4096> chunk{};
        ssize_t got = 0;
        while ((got = read(answer.read_end(), chunk.data(), chunk.size())) > 0) {
            said.append(chunk.data(), static_cast<std::size_t>(got));
        }
        const int status = child.wait();
        return status == 0 ? said : "the child failed: " + std::to_string(status);
    }
};

TEST_F(UnprivilegedTest, AReadOnlyFolderIsReadAndNotWritten) {
    make_store();
    const auto before = folder();
    EXPECT_EQ(refusal_as_nobody(file(), OpenMode::read_only), "");
    EXPECT_THAT(refusal_as_nobody(file(), OpenMode::read_write),
                AllOf(HasSubstr("may only be read"), HasSubstr("the right to write")));
    EXPECT_NE(refusal_as_nobody(scratch().file("new.db"), OpenMode::read_write), "");
    EXPECT_TRUE(folder() == before);
    // The file may be written, but not the folder, where the log would lie.
    ASSERT_EQ(chmod(file().c_str(), 0666), 0);
    EXPECT_THAT(refusal_as_nobody(file(), OpenMode::read_write), HasSubstr("the right to write"));
    EXPECT_TRUE(folder() == before);
    ASSERT_EQ(chmod(file().c_str(), 0600), 0);
    for (const auto mode : {OpenMode::read_only, OpenMode::read_write}) {
        EXPECT_THAT(refusal_as_nobody(file(), mode), HasSubstr("cannot be read"));
    }
}

TEST_F(UnprivilegedTest, ALogInAReadOnlyFolderIsRead) {
    Store writer = Store::open(file(), OpenMode::read_write);
    writer.create(small_experiment());
    // Beside a live writer, whose files are there.
    EXPECT_EQ(refusal_as_nobody(file(), OpenMode::read_only), "");
    // And a copy that has no index, or one of its own.
    const ScratchFolder copy;
    ASSERT_EQ(chmod(copy.path().c_str(), 0755), 0);
    for (const char* part : {"", "-wal"}) {
        fs::copy_file(file().string() + part, copy.file("runs.db").string() + part);
    }
    EXPECT_EQ(refusal_as_nobody(copy.file("runs.db"), OpenMode::read_only), "");
    fs::copy_file(file().string() + "-shm", copy.file("runs.db-shm"));
    EXPECT_EQ(refusal_as_nobody(copy.file("runs.db"), OpenMode::read_only), "");
}

}  // namespace
}  // namespace vsb::datasets
