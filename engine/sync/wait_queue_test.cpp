#include "engine/sync/wait_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "engine/sync/doorbell.h"

namespace vsb::engine {
namespace {

TEST(Task, WakeBetweenAnnouncementAndSleepCostsNoSystemCallAndNoSleep) {
    Task task;
    task.set_sleeping();
    EXPECT_FALSE(task.wake());
    EXPECT_FALSE(task.schedule());
}

TEST(Task, InterruptEndsThisAndEveryLaterSleep) {
    Task task;
    std::thread sleeper([&] {
        for (int i = 0; i < 3; ++i) {
            task.set_sleeping();
            task.schedule();
        }
    });
    task.interrupt();
    sleeper.join();
    EXPECT_TRUE(task.interrupted());
}

TEST(WaitQueue, EntryRemovesItselfWhenWoken) {
    WaitQueue queue;
    Task task;
    WaitEntry entry;
    queue.prepare_to_wait(entry, task);
    EXPECT_TRUE(queue.has_sleeper());
    EXPECT_EQ(queue.wake_up().tasks, 1U);
    EXPECT_FALSE(queue.has_sleeper());
    EXPECT_EQ(queue.wake_up().tasks, 0U);  // one wake a sleep
    queue.finish_wait(entry);
}

TEST(WaitQueue, FinishTakesAnEntryOffThatNobodyWoke) {
    WaitQueue queue;
    Task task;
    WaitEntry entry;
    queue.prepare_to_wait(entry, task);
    queue.prepare_to_wait(entry, task);  // again, as a loop does: still one entry
    queue.finish_wait(entry);
    EXPECT_FALSE(queue.has_sleeper());
}

TEST(WaitQueue, WakesEveryoneButOnlyOneExclusiveInOrder) {
    WaitQueue queue;
    std::vector<Task> tasks(4);
    std::vector<WaitEntry> entries(4);
    queue.prepare_to_wait_exclusive(entries[0], tasks[0]);
    queue.prepare_to_wait_exclusive(entries[1], tasks[1]);
    queue.prepare_to_wait(entries[2], tasks[2]);
    queue.prepare_to_wait(entries[3], tasks[3]);
    EXPECT_EQ(queue.wake_up().tasks, 3U);
    EXPECT_FALSE(entries[0].queued);
    EXPECT_TRUE(entries[1].queued);
    EXPECT_EQ(queue.wake_up().tasks, 1U);
    for (std::size_t i = 0; i < 4; ++i)
        queue.finish_wait(entries[i]);
}

TEST(WaitQueue, MoreSleepersThanOneRoundHolds) {
    WaitQueue queue;
    std::vector<Task> tasks(21);
    std::vector<WaitEntry> entries(21);
    for (std::size_t i = 0; i < 21; ++i)
        queue.prepare_to_wait(entries[i], tasks[i]);
    EXPECT_EQ(queue.wake_up().tasks, 21U);
    EXPECT_FALSE(queue.has_sleeper());
}

// A hand-over of a counter between two threads that both sleep: a lost wake is a hang.
TEST(WaitQueue, NoWakeIsLost) {
    WaitQueue queue;
    std::atomic<int> turn{0};
    constexpr int kTurns = 20000;
    std::vector<Task> tasks(2);  // outlive the last wake of either
    const auto play = [&](int mine) {
        Task& task = tasks[static_cast<std::size_t>(mine)];
        for (;;) {
            WaitEntry entry;
            for (;;) {
                queue.prepare_to_wait(entry, task);
                const int now = turn.load();
                if (now % 2 == mine || now >= kTurns) break;
                task.schedule();
            }
            queue.finish_wait(entry);
            if (turn.load() >= kTurns) break;
            turn.fetch_add(1);
            if (queue.has_sleeper()) queue.wake_up();
        }
        queue.wake_up();
    };
    std::thread other([&] { play(1); });
    play(0);
    other.join();
    EXPECT_GE(turn.load(), kTurns);
}

TEST(Doorbell, RememberedUntilWaitedFor) {
    Doorbell bell;
    Task task;
    bell.ring();
    bell.ring();
    EXPECT_FALSE(bell.wait(task));
    task.interrupt();
    EXPECT_FALSE(bell.wait(task));  // not rung again, but interrupted
}

TEST(Doorbell, EveryRingAfterAWaitIsSeen) {
    Doorbell there;
    Doorbell back;
    Task mine;
    Task other;
    constexpr int kRounds = 10000;
    std::thread thread([&] {
        for (int i = 0; i < kRounds; ++i) {
            there.wait(other);
            back.ring();
        }
    });
    for (int i = 0; i < kRounds; ++i) {
        there.ring();
        back.wait(mine);
    }
    thread.join();
}

}  // namespace
}  // namespace vsb::engine
