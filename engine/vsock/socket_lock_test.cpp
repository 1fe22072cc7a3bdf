#include "engine/vsock/socket_lock.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace vsb::engine {
namespace {

TEST(SocketLock, ExcludesAndWakesEveryWaiter) {
    SocketLock lock;
    constexpr int kThreads = 3;
    constexpr int kRounds = 3000;
    std::uint64_t shared = 0;  // plain: the lock is what makes this right
    std::vector<std::unique_ptr<Current>> currents;
    for (int i = 0; i < kThreads; ++i)
        currents.push_back(std::make_unique<Current>());
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i)
        threads.emplace_back([&, me = currents[static_cast<std::size_t>(i)].get()] {
            for (int n = 0; n < kRounds; ++n) {
                ASSERT_TRUE(lock.lock(*me));
                const std::uint64_t before = shared;
                if (n % 64 == 0) std::this_thread::yield();
                shared = before + 1;
                lock.unlock(*me);
            }
        });
    for (auto& thread : threads)
        thread.join();
    EXPECT_EQ(shared, std::uint64_t{kThreads} * kRounds);
    std::uint64_t acquired = 0;
    for (const auto& me : currents)
        acquired += me->counts.lock_acquisitions;
    EXPECT_EQ(acquired, std::uint64_t{kThreads} * kRounds);
}

TEST(SocketLock, AWaiterSleepsAndIsCountedAsContended) {
    SocketLock lock;
    Current owner;
    Current waiter;
    ASSERT_TRUE(lock.lock(owner));
    std::atomic<bool> got{false};
    std::thread thread([&] {
        ASSERT_TRUE(lock.lock(waiter));
        got = true;
        lock.unlock(waiter);
    });
    // Unlock after unlock until the waiter had it: whichever way the threads interleave.
    while (!got) {
        lock.unlock(owner);
        std::this_thread::yield();
        ASSERT_TRUE(lock.lock(owner));
    }
    lock.unlock(owner);
    thread.join();
    EXPECT_LE(waiter.counts.lock_contended, 1U);
    EXPECT_EQ(waiter.counts.lock_acquisitions, 1U);
}

TEST(SocketLock, InterruptEndsAWaitWithoutTheLock) {
    SocketLock lock;
    Current owner;
    Current waiter;
    ASSERT_TRUE(lock.lock(owner));
    std::thread thread([&] { EXPECT_FALSE(lock.lock(waiter)); });
    waiter.task.interrupt();
    thread.join();
    EXPECT_TRUE(lock.owned());
    lock.unlock(owner);
    EXPECT_FALSE(lock.owned());
}

struct Backlog {
    SocketLock lock;
    std::vector<Skb*> seen;
    Skb extra;
    bool add_more = false;

    static void rcv(void* self, Skb& skb, Current&) noexcept {
        auto& backlog = *static_cast<Backlog*>(self);
        EXPECT_TRUE(backlog.lock.owned());
        backlog.seen.push_back(&skb);
        if (std::exchange(backlog.add_more, false)) {
            EXPECT_TRUE(backlog.lock.add_backlog(backlog.extra));
        }
    }
};

TEST(SocketLock, ReleaseRunsTheBacklogInOrderAndWhatItAdds) {
    Backlog backlog;
    Current me;
    backlog.lock.set_backlog_rcv(&Backlog::rcv, &backlog);
    Skb a;
    Skb b;
    EXPECT_FALSE(backlog.lock.add_backlog(a));  // not owned: process it yourself
    ASSERT_TRUE(backlog.lock.lock(me));
    EXPECT_TRUE(backlog.lock.add_backlog(a));
    EXPECT_TRUE(backlog.lock.add_backlog(b));
    EXPECT_TRUE(backlog.seen.empty());
    backlog.add_more = true;
    backlog.lock.unlock(me);
    EXPECT_EQ(backlog.seen, (std::vector<Skb*>{&a, &b, &backlog.extra}));
    EXPECT_FALSE(backlog.lock.owned());
}

}  // namespace
}  // namespace vsb::engine
