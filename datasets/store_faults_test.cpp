// The store against what breaks: power cuts, kill -9, a full disk, a file that vanishes, two runs
// at once.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <set>

#include "datasets/child_process.h"
#include "datasets/recording_vfs.h"
#include "datasets/store_fixture.h"

namespace vsb::datasets {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kSeed = 20261130;

class StoreFaultsTest : public testing::Test {
  protected:
    std::filesystem::path file() const { return scratch_.file("runs.db"); }
    const ScratchFolder& scratch() const { return scratch_; }

  private:
    ScratchFolder scratch_;
};

std::int64_t stored_trials(const std::filesystem::path& file) {
    return query_integer(file, "SELECT count(*) FROM trial");
}

std::string integrity(const std::filesystem::path& file) {
    return query_text(file, "PRAGMA integrity_check");
}

// Trials with samples enough to fill several pages.
TrialRecord big_trial(const ExperimentRecord& experiment, std::int64_t number) {
    const std::size_t state = number % 2 == 1 ? 0 : 1;
    auto trial = ok_trial(experiment, 0, state, (number + 1) / 2, PairOrder::ab, 1);
    std::vector<std::uint64_t> values;
    for (std::uint64_t i = 0; i < 4000; ++i)
        values.push_back(i * i * 977 % 100'003);
    trial.samples = {{"rtt", "ns", values}};
    return trial;
}

// Creation, trials over two openings (so that the log is checked in between), each one marked once
// add() returned.
std::vector<DiskOperation> record_a_run(const std::filesystem::path& file) {
    RecordingDisk disk;
    std::int64_t number = 0;
    for (int opening = 0; opening < 2; ++opening) {
        Store store = Store::open(file, OpenMode::read_write);
        const auto experiment =
            opening == 0 ? store.create(small_experiment()) : store.find("last");
        for (int i = 0; i < 6; ++i) {
            store.add(experiment.id, big_trial(experiment, number + 1));
            disk.mark(++number);
        }
    }
    return disk.operations();
}

// How many of the cuts lost a trial that was promised.
std::size_t play_cuts(const std::vector<DiskOperation>& operations, bool syncs_lie,
                      std::size_t step) {
    std::mt19937_64 random(kSeed);
    std::size_t losses = 0;
    for (std::size_t count = 0; count <= operations.size(); count += step) {
        const auto after = cut_power(operations, count, random, syncs_lie);
        const ScratchFolder fresh;
        for (const auto& [path, bytes] : after.files) {
            write_bytes(fresh.file(std::filesystem::path(path).filename().string()), bytes);
        }
        const auto file = fresh.file("runs.db");
        const std::string why = refusal(file);
        std::int64_t found = -1;
        if (why.empty()) found = stored_trials(file);
        if (found < after.last_mark) ++losses;
        if (syncs_lie) continue;
        EXPECT_EQ(why, "") << "cut after operation " << count;
        EXPECT_GE(found, after.last_mark) << "cut after operation " << count;
        EXPECT_EQ(integrity(file), "ok") << "cut after operation " << count;
    }
    return losses;
}

TEST_F(StoreFaultsTest, APowerCutLosesNothingThatWasAcknowledged) {
    const auto operations = record_a_run(file());
    ASSERT_GT(operations.size(), 100U);
    EXPECT_EQ(play_cuts(operations, false, 5), 0U);
}

// Or the play could not see a loss: on a disk that only pretends to sync there must be some.
TEST_F(StoreFaultsTest, APowerCutOnADiskThatLiesIsSeenToLose) {
    EXPECT_GT(play_cuts(record_a_run(file()), true, 20), 0U);
}

TEST_F(StoreFaultsTest, AFullDiskFailsTheTrialAndKeepsTheRest) {
    RecordingDisk disk;
    Store store = Store::open(file(), OpenMode::read_write);
    const auto experiment = store.create(small_experiment());
    store.add(experiment.id, big_trial(experiment, 1));
    std::int64_t room = 0;
    std::string what;
    // Every amount of room at which a trial's write can be cut short.
    for (bool fits = false; !fits; room += 2048) {
        disk.set_room(room);
        try {
            store.add(experiment.id, big_trial(experiment, 2));
            fits = true;
        } catch (const StoreWriteFailed& error) {
            what = error.what();
            EXPECT_EQ(store.trials(experiment.id, true).size(), 1U);
        }
    }
    EXPECT_GT(room, 4096);
    EXPECT_THAT(what, HasSubstr("full"));
    EXPECT_THAT(what, HasSubstr("make room"));
    // There is room again: the run goes on as if nothing had been.
    disk.set_room(-1);
    store.add(experiment.id, big_trial(experiment, 3));
    EXPECT_EQ(store.trials(experiment.id, true).size(), 3U);
    EXPECT_EQ(integrity(file()), "ok");
}

TEST_F(StoreFaultsTest, AFullDiskAtOpeningIsRefusedBeforeMeasuring) {
    RecordingDisk disk;
    disk.set_room(8192);
    EXPECT_THAT(refusal(file()), HasSubstr("full"));
    disk.set_room(-1);
    EXPECT_EQ(refusal(file()), "");
    disk.set_room(0);
    EXPECT_THAT(refusal(file()), HasSubstr("make room"));
    disk.set_room(-1);
    EXPECT_EQ(refusal(file()), "");
}

TEST_F(StoreFaultsTest, AFileThatVanishedIsAFailedWrite) {
    for (const bool moved : {false, true}) {
        Store store = Store::open(file(), OpenMode::read_write);
        const auto experiment = store.create(small_experiment());
        store.add(experiment.id, big_trial(experiment, 1));
        if (moved) {
            std::filesystem::rename(file(), scratch().file("elsewhere.db"));
        } else {
            std::filesystem::remove(file());
        }
        EXPECT_THROW(store.add(experiment.id, big_trial(experiment, 2)), StoreWriteFailed);
        std::filesystem::remove(file().string() + "-wal");
        std::filesystem::remove(file().string() + "-shm");
    }
}

// Adds trials for ever, telling each one's number when add() has returned.
[[noreturn]] void write_for_ever(const std::filesystem::path& file, int acknowledge) {
    Store store = Store::open(file, OpenMode::read_write);
    const auto experiment = store.create(small_experiment());
    for (std::int64_t number = 1;; ++number) {
        store.add(experiment.id, big_trial(experiment, number));
        if (write(acknowledge, &number, sizeof number) != sizeof number) _exit(1);
    }
}

TEST_F(StoreFaultsTest, KillMinus9AtAnyMomentKeepsEveryAcknowledgedTrial) {
    std::mt19937_64 random(kSeed);
    std::set<std::int64_t> stored_counts;
    for (int round = 0; round < 25; ++round) {
        const auto path = scratch().file("killed-" + std::to_string(round) + ".db");
        Pipe acks;
        Child child([&] { write_for_ever(path, acks.write_end()); });
        acks.close_write_end();
        std::int64_t acknowledged = 0;
        const auto target = static_cast<std::int64_t>(1 + random() % 20);
        while (acknowledged < target) {
            ASSERT_EQ(read(acks.read_end(), &acknowledged, sizeof acknowledged),
                      static_cast<ssize_t>(sizeof acknowledged));
        }
        // Some way into the next trial, wherever that is.
        volatile std::uint64_t spin = random() % 400'000;
        while (spin > 0)
            spin = spin - 1;
        child.kill_and_wait();
        while (read(acks.read_end(), &acknowledged, sizeof acknowledged) > 0) {
        }

        {
            Store store = Store::open(path, OpenMode::read_write);
            const auto experiment = store.find("last");
            EXPECT_EQ(experiment.status, ExperimentStatus::interrupted);
            EXPECT_FALSE(experiment.finished.empty());
            const auto trials = store.trials(experiment.id, true);
            EXPECT_GE(static_cast<std::int64_t>(trials.size()), acknowledged);
            for (const TrialRecord& trial : trials) {
                EXPECT_EQ(trial.measurements.size(), 2U);
                EXPECT_EQ(trial.samples.size(), 1U);
            }
            stored_counts.insert(static_cast<std::int64_t>(trials.size()));
            // Whole pairs only, and the run can go on.
            EXPECT_EQ(store.paired(experiment.id).at(0).pairs.size(), trials.size() / 2);
            EXPECT_EQ(store.invalidate_lone_halves(experiment.id, "cut off"), trials.size() % 2);
            store.set_status(experiment.id, ExperimentStatus::running);
        }
        EXPECT_EQ(integrity(path), "ok");
    }
    EXPECT_GT(stored_counts.size(), 5U);
}

TEST_F(StoreFaultsTest, TwoRunsIntoOneStoreBothFinish) {
    constexpr std::int64_t kTrials = 60;
    const auto run = [&] {
        Store store = Store::open(file(), OpenMode::read_write);
        const auto experiment = store.create(small_experiment());
        for (std::int64_t number = 1; number <= kTrials; ++number) {
            store.add(experiment.id, big_trial(experiment, number));
        }
        store.set_status(experiment.id, ExperimentStatus::finished);
        _exit(0);
    };
    Child first(run);  // both create the file, too
    Child second(run);
    EXPECT_EQ(first.wait(), 0);
    EXPECT_EQ(second.wait(), 0);
    Store store = Store::open(file(), OpenMode::read_write);
    const auto experiments = store.experiments();
    ASSERT_EQ(experiments.size(), 2U);
    EXPECT_NE(experiments[0].uuid, experiments[1].uuid);
    for (const auto& experiment : experiments) {
        EXPECT_EQ(experiment.status, ExperimentStatus::finished);
        EXPECT_EQ(store.trials(experiment.id).size(), static_cast<std::size_t>(kTrials));
        EXPECT_EQ(store.paired(experiment.id).at(0).pairs.size(),
                  static_cast<std::size_t>(kTrials / 2));
    }
    EXPECT_EQ(integrity(file()), "ok");
}

// A live run is left alone by whoever opens the store; once it is dead it is marked, waited for or
// not.
TEST_F(StoreFaultsTest, OnlyARunWhoseProcessIsGoneIsInterrupted) {
    Pipe ready;
    Child child([&] {
        Store store = Store::open(file(), OpenMode::read_write);
        const auto experiment = store.create(small_experiment());
        store.add(experiment.id, big_trial(experiment, 1));
        if (write(ready.write_end(), "r", 1) != 1) _exit(1);
        while (true)
            pause();
    });
    ready.close_write_end();
    char byte = 0;
    ASSERT_EQ(read(ready.read_end(), &byte, 1), 1);
    {
        Store store = Store::open(file(), OpenMode::read_write);
        EXPECT_EQ(store.find("last").status, ExperimentStatus::running);
        EXPECT_THROW(store.set_status(1, ExperimentStatus::running), std::invalid_argument);
        const auto own = store.create(small_experiment());
        Store again = Store::open(file(), OpenMode::read_write);
        EXPECT_EQ(again.find("last").status, ExperimentStatus::running);
        store.set_status(own.id, ExperimentStatus::finished);
    }
    child.kill_without_waiting();
    {
        Store reader = Store::open(file(), OpenMode::read_only);
        EXPECT_EQ(reader.find("1").status, ExperimentStatus::interrupted);  // told, not written
        EXPECT_EQ(reader.find("1").finished, "");
    }
    Store store = Store::open(file(), OpenMode::read_write);
    EXPECT_EQ(store.find("1").status, ExperimentStatus::interrupted);
    EXPECT_EQ(store.find("1").finished, "2026-11-30T16:00:00Z");  // when its last trial began
}

TEST_F(StoreFaultsTest, AProcessNumberThatWasUsedAgainIsNotTheOwner) {
    const auto status_after = [&](const std::string& change) {
        run_sql(file(), "UPDATE experiment SET status = 'running', finished = NULL, " + change);
        return Store::open(file(), OpenMode::read_write).find("last").status;
    };
    {
        Store store = Store::open(file(), OpenMode::read_write);
        store.create(small_experiment());
    }
    const auto running = ExperimentStatus::running;
    const auto interrupted = ExperimentStatus::interrupted;
    EXPECT_EQ(status_after("name = 'as it is'"), running);
    EXPECT_EQ(status_after("owner_start_ticks = owner_start_ticks - 1"), interrupted);
    EXPECT_EQ(status_after("owner_start_ticks = owner_start_ticks + 1"), running);
    EXPECT_EQ(status_after("owner_pid_namespace = 'pid:[1]', owner_pid = 4194304"), running);
    EXPECT_EQ(status_after("owner_boot_id = 'before the reboot'"), interrupted);
}

}  // namespace
}  // namespace vsb::datasets
