#include "engine/dgram_sendmsg/grace_period.h"

#include <gtest/gtest.h>

#include <thread>
#include <utility>
#include <vector>

#include "engine/dgram_sendmsg/record_pointer.h"

namespace vsb::engine::dgram_sendmsg {
namespace {

// A record that knows how many of its kind were destroyed.
struct Record {
    Record(std::uint64_t n, std::atomic<std::uint64_t>& count)
        : number(n), twice(2 * n), gone(&count) {}
    Record(const Record&) = delete;
    Record& operator=(const Record&) = delete;
    ~Record() { ++*gone; }

    std::uint64_t number;
    std::uint64_t twice;
    std::atomic<std::uint64_t>* gone;
};

// The grace period broken on purpose: a replaced record is freed whoever still reads it.
struct FreeAtOnce {
    void retire(void* memory, void (*free)(void*)) noexcept { free(memory); }
};

template <class Grace>
struct Pointer {
    template <class... Args>
    explicit Pointer(Args... args)
        : grace(args...), pointer(grace, std::make_unique<const Record>(0, gone)) {}
    void replace(std::uint64_t n) { pointer.replace(std::make_unique<const Record>(n, gone)); }

    std::atomic<std::uint64_t> gone{0};
    Grace grace;
    RecordPointer<Record, Grace> pointer;
};

TEST(GracePeriods, AReplacedRecordLivesWhileAReaderIsInside) {
    Pointer<GracePeriods> p(std::size_t{2});
    p.grace.enter(1);
    const Record* const seen = p.pointer.load();
    // Far more replacements than it takes for the writer to look at the readers.
    for (std::uint64_t n = 1; n <= 1000; ++n)
        p.replace(n);
    EXPECT_EQ(p.gone, 0U);
    EXPECT_EQ(p.grace.waiting(), 1000U);
    EXPECT_EQ(seen->number, 0U);  // AddressSanitizer would object
    EXPECT_EQ(p.pointer.load()->number, 1000U);
    p.grace.leave(1);
    p.grace.synchronize();
    EXPECT_EQ(p.gone, 1000U);
    EXPECT_EQ(p.grace.freed(), 1000U);
    EXPECT_EQ(p.grace.waiting(), 0U);
}

TEST(GracePeriods, AReaderHoldsBackOnlyWhatWasReplacedAfterItEntered) {
    Pointer<GracePeriods> p(std::size_t{2});
    for (std::uint64_t n = 1; n <= 63; ++n)
        p.replace(n);
    EXPECT_EQ(p.gone, 0U);  // nobody looked yet
    p.grace.enter(0);
    p.replace(64);
    EXPECT_EQ(p.gone, 63U);
    p.grace.leave(0);
    p.grace.enter(0);  // a new section: it cannot have seen record 63
    for (std::uint64_t n = 65; n <= 127; ++n)
        p.replace(n);
    EXPECT_EQ(p.gone, 63U + 1U);
    p.grace.leave(0);
}

// The negative control of the two tests above and of every test that relies on AddressSanitizer:
// without a grace period the record is gone under the reader, and the sanitizer says so.
TEST(GracePeriods, WithoutThemTheReadersRecordIsFreed) {
    Pointer<FreeAtOnce> p;
    [[maybe_unused]] const Record* const seen = p.pointer.load();
    p.replace(1);
    EXPECT_EQ(p.gone, 1U);
#if defined(__SANITIZE_ADDRESS__)
    EXPECT_DEATH(
        {
            volatile std::uint64_t number = seen->number;
            static_cast<void>(number);
        },
        "heap-use-after-free");
#endif
}

// `readers` threads read without a lock while the record is replaced `times` times. A record that
// was freed would not hold together, and AddressSanitizer would stop the test.
void replace_under_readers(std::size_t readers, std::uint64_t times) {
    Pointer<GracePeriods> p(readers);
    std::atomic<bool> done{false};
    std::atomic<std::size_t> reading{0};
    std::atomic<std::uint64_t> torn{0};
    std::vector<std::thread> threads;
    for (std::size_t r = 0; r < readers; ++r) {
        threads.emplace_back([&, r] {
            std::uint64_t last = 0;
            bool started = false;
            while (!done.load(std::memory_order_relaxed)) {
                for (int i = 0; i < 1000; ++i) {
                    const ReadSection section(p.grace, r);
                    const Record* const record = p.pointer.load();
                    if (record->twice != 2 * record->number || record->number < last) ++torn;
                    last = record->number;
                }
                if (!std::exchange(started, true)) ++reading;
                std::this_thread::yield();  // the writer needs a CPU too
            }
        });
    }
    while (reading < readers)
        std::this_thread::yield();
    for (std::uint64_t n = 1; n <= times; ++n)
        p.replace(n);
    done = true;
    for (auto& thread : threads)
        thread.join();
    p.grace.synchronize();
    EXPECT_EQ(torn, 0U);
    EXPECT_EQ(p.gone, times);
    EXPECT_LE(p.grace.most_waiting(), GracePeriods::kMostWaiting);
}

TEST(GracePeriods, SixteenReadersWhileTheRecordIsReplaced) {
    replace_under_readers(16, 20'000);
}

TEST(GracePeriodsSlow, SixteenReadersWhileTheRecordIsReplacedAMillionTimes) {
    replace_under_readers(16, 1'000'000);
}

}  // namespace
}  // namespace vsb::engine::dgram_sendmsg
