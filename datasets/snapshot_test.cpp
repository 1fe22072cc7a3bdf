#include "datasets/snapshot.h"

#include <gtest/gtest.h>

#include <random>

#include "datasets/store_fixture.h"

namespace vsb::datasets {
namespace {

namespace fs = std::filesystem;

std::vector<std::uint8_t> bytes_of(const std::string& text) {
    return {text.begin(), text.end()};
}

constexpr const char* kSum = "SELECT count(*) || ' ' || coalesce(sum(length(t)), 0) FROM notes";

// A database in WAL mode whose log has several commits, an older round's frames at its end, and a
// database that was already partly checked in; plus every file's bytes.
class SnapshotTest : public testing::TestWithParam<int> {
  protected:
    void SetUp() override {
        sql::Database database(file().string(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
        const std::string page_size = "PRAGMA page_size = " + std::to_string(GetParam());
        database.execute(page_size.c_str());
        database.execute(
            "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;"
            "CREATE TABLE notes (t TEXT)");
        for (int i = 0; i < 40; ++i)
            add(database, i);
        database.execute("PRAGMA wal_checkpoint(RESTART)");
        for (int i = 0; i < 7; ++i)
            add(database, i);
        database.execute("DELETE FROM notes WHERE rowid % 5 = 0");
        main_ = read_bytes(file());
        log_ = read_bytes(file().string() + "-wal");
    }
    static void add(sql::Database& database, int i) {
        const std::string text(static_cast<std::size_t>(100 + i * 37), 'x');
        sql::Statement(database, "INSERT INTO notes VALUES (?)").bind(1, text).run();
    }
    fs::path file() const { return scratch_.file("live.db"); }

    // SQLite's own recovery of these bytes.
    std::string recovered(const std::string& log) const {
        const ScratchFolder other;
        const auto copy = other.file("copy.db");
        write_bytes(copy, main_);
        write_bytes(copy.string() + "-wal", log);
        return query_text(copy, kSum);
    }
    std::string ours(const std::string& log) const {
        const ScratchFolder other;
        const auto copy = other.file("copy.db");
        write_bytes(copy, main_);
        write_bytes(copy.string() + "-wal", log);
        return open_snapshot(copy).text(kSum);
    }

    ScratchFolder scratch_;
    std::string main_;
    std::string log_;
};

TEST_P(SnapshotTest, HoldsWhatSqliteRecovers) {
    ASSERT_GT(log_.size(), 10U * 1024);
    EXPECT_EQ(ours(log_), recovered(log_));
    EXPECT_NE(ours(log_), ours(""));
    EXPECT_EQ(ours(""), recovered(""));
}

TEST_P(SnapshotTest, HoldsWhatSqliteRecoversOfADamagedLog) {
    std::mt19937_64 random(7);
    std::size_t different = 0;
    for (int i = 0; i < 40; ++i) {
        std::string log = log_;
        if (i % 2 == 0) {
            log.resize(random() % log.size());
        } else {
            const auto at = random() % (i % 4 == 1 ? 64 : log.size());
            log[at] = static_cast<char>(log[at] ^ (1 << (random() % 8)));
        }
        const std::string expected = recovered(log);
        EXPECT_EQ(ours(log), expected) << i;
        if (expected != recovered(log_)) ++different;
    }
    EXPECT_GT(different, 5U);
}

TEST_P(SnapshotTest, HoldsWhatSqliteRecoversWhereverTheLogsHeaderIsDamaged) {
    constexpr std::size_t kHeaders = 32 + 24;  // the log's and its first frame's
    for (std::size_t at = 0; at < kHeaders; ++at) {
        std::string log = log_;
        log[at] = static_cast<char>(log[at] ^ 1);
        EXPECT_EQ(ours(log), recovered(log)) << at;
    }
}

INSTANTIATE_TEST_SUITE_P(PageSizes, SnapshotTest, testing::Values(512, 4096, 65536));

TEST(SnapshotBytesTest, NoLogIsNoChangeButTheMode) {
    auto database = bytes_of(std::string(100, 'd'));
    database[18] = database[19] = 2;
    auto expected = database;
    expected[18] = expected[19] = 1;
    apply_wal(database, {});
    EXPECT_EQ(database, expected);
    apply_wal(database, bytes_of(std::string(5000, 'n')));
    EXPECT_EQ(database, expected);
    std::vector<std::uint8_t> empty;
    apply_wal(empty, {});
    EXPECT_TRUE(empty.empty());
}

}  // namespace
}  // namespace vsb::datasets
