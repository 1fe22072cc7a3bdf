#pragma once
// When may memory that readers look at without a lock be freed? After every reader that could have
// seen it has left. Stands for RCU: enter()/leave() for rcu_read_lock()/rcu_read_unlock(),
// retire() for call_rcu(), synchronize() for synchronize_rcu().
//
// Each reader has a slot that holds 0 outside a read section and, inside, the epoch it began in. A
// writer unlinks, advances the epoch and may free once no slot holds an older one. Why that is
// enough: the reader stores its slot and then loads the pointer, the writer stores the pointer and
// then loads the slots, all seq_cst. A slot the writer saw empty, or at the new epoch, therefore
// belongs to a reader whose next load finds the new pointer. No fences: ThreadSanitizer does not
// model them.
//
// Left out of what RCU is: readers cost two stores here and nothing in the kernel; sections do not
// nest; the number of readers is fixed.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace vsb::engine::dgram_sendmsg {

class GracePeriods {
  public:
    explicit GracePeriods(std::size_t readers);
    // Frees what is still waiting. No reader may be inside.
    ~GracePeriods();
    GracePeriods(const GracePeriods&) = delete;
    GracePeriods& operator=(const GracePeriods&) = delete;

    // `reader` < readers; one thread at a time for each. Sections do not nest.
    void enter(std::size_t reader) noexcept {
        auto& slot = slots_[reader].epoch;
        slot.store(epoch_.load(std::memory_order_seq_cst), std::memory_order_seq_cst);
    }
    void leave(std::size_t reader) noexcept {
        slots_[reader].epoch.store(0, std::memory_order_release);
    }

    // The writers' side: one thread at a time. `memory` is no longer reachable; free(memory) is
    // called, here or in a later call, once no reader can hold it. At most kMostWaiting wait: then
    // retire() waits for readers itself.
    void retire(void* memory, void (*free)(void*)) noexcept;
    // Returns when everything retired so far has been freed.
    void synchronize() noexcept;

    std::uint64_t freed() const noexcept { return freed_; }
    std::size_t waiting() const noexcept { return waiting_.size(); }
    std::uint64_t most_waiting() const noexcept { return most_; }

    static constexpr std::size_t kMostWaiting = 4096;

  private:
    struct alignas(64) Slot {
        std::atomic<std::uint64_t> epoch{0};
    };
    struct Waiting {
        std::uint64_t epoch = 0;  // may be freed when no reader is in an older one
        void* memory = nullptr;
        void (*free)(void*) = nullptr;
    };

    std::uint64_t oldest_reader() const noexcept;
    void free_passed() noexcept;

    const std::size_t readers_;
    const std::unique_ptr<Slot[]> slots_;
    alignas(64) std::atomic<std::uint64_t> epoch_{1};
    std::vector<Waiting> waiting_;  // oldest first
    std::uint64_t freed_ = 0;
    std::uint64_t most_ = 0;
};

// A read section as a scope.
class ReadSection {
  public:
    ReadSection(GracePeriods& periods, std::size_t reader) noexcept
        : periods_(periods), reader_(reader) {
        periods_.enter(reader_);
    }
    ~ReadSection() { periods_.leave(reader_); }
    ReadSection(const ReadSection&) = delete;
    ReadSection& operator=(const ReadSection&) = delete;

  private:
    GracePeriods& periods_;
    const std::size_t reader_;
};

}  // namespace vsb::engine::dgram_sendmsg
