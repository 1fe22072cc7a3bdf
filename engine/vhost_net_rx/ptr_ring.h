#pragma once
// A ring of pointers in which a null slot is a free slot, so that producer and consumer share no
// index; each side has a lock of its own. Mirrors include/linux/ptr_ring.h: ptr_ring_produce(),
// __ptr_ring_peek(), ptr_ring_consume(), ptr_ring_consume_batched(), ptr_ring_unconsume(),
// ptr_ring_cleanup(), and the consumer's habit of handing slots back a few cache lines at a time
// (__ptr_ring_zero_tail()). Left out: resizing, the _irq/_bh/_any variants of the locks.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "engine/trial/counted_spinlock.h"

namespace vsb::engine::vhost_net_rx {

template <class T>
class PtrRing {
  public:
    // size >= 1; need not be a power of two.
    explicit PtrRing(std::size_t size)
        : size_(size), slots_(std::make_unique<std::atomic<T*>[]>(size)) {
        // As __ptr_ring_set_size(): two cache lines of slots, but never more than half the ring, or
        // a producer could find the ring full while the consumer finds it empty.
        constexpr std::size_t kTwoLines = 2 * 64 / sizeof(T*);
        zero_every_ = kTwoLines > size / 2 ? 1 : kTwoLines;
    }
    PtrRing(const PtrRing&) = delete;
    PtrRing& operator=(const PtrRing&) = delete;

    std::size_t size() const noexcept { return size_; }

    // False: full; the caller keeps the item. The store is seq_cst, so that a producer may look for
    // a sleeping consumer right after it (smp_mb() in wq_has_sleeper()).
    bool produce(T* item) noexcept {
        const std::lock_guard hold(producer_lock_);
        auto& slot = slots_[producer_];
        if (slot.load(std::memory_order_acquire) != nullptr) return false;
        slot.store(item, std::memory_order_seq_cst);
        if (++producer_ == size_) producer_ = 0;
        return true;
    }

    // The consumer's side without its lock: for the holder of consumer_lock(), or where there is
    // one consumer only (__ptr_ring_peek(), __ptr_ring_consume()).
    T* peek_unlocked() const noexcept { return slots_[head_].load(std::memory_order_seq_cst); }
    T* consume_unlocked() noexcept {
        T* const item = slots_[head_].load(std::memory_order_seq_cst);
        if (item != nullptr) discard_one();
        return item;
    }

    T* consume() noexcept {
        const std::lock_guard hold(consumer_lock_);
        return consume_unlocked();
    }

    // Up to into.size() items under one lock. Fewer does not mean that the ring is empty: more may
    // have been produced since the last look.
    std::size_t consume_batched(std::span<T*> into) noexcept {
        const std::lock_guard hold(consumer_lock_);
        std::size_t n = 0;
        for (; n < into.size(); ++n) {
            T* const item = consume_unlocked();
            if (item == nullptr) break;
            into[n] = item;
        }
        return n;
    }

    // Puts items that were consumed, and nothing since, back in front, in their order. Those at the
    // front of `items` that find no room are destroyed, as the kernel destroys them. How many.
    template <class Destroy>
    std::size_t unconsume(std::span<T* const> items, Destroy destroy) noexcept {
        const std::lock_guard hold_consumer(consumer_lock_);
        const std::lock_guard hold_producer(producer_lock_);
        zero_tail();
        std::size_t n = items.size();
        while (n > 0) {
            const std::size_t before = (head_ == 0 ? size_ : head_) - 1;
            auto& slot = slots_[before];
            if (slot.load(std::memory_order_relaxed) != nullptr) break;
            slot.store(items[--n], std::memory_order_release);
            head_ = before;
            tail_ = before;
        }
        for (std::size_t i = 0; i < n; ++i)
            destroy(items[i]);
        return n;
    }

    // Destroys what is in the ring. No producer or consumer may be left. How many.
    template <class Destroy>
    std::size_t cleanup(Destroy destroy) noexcept {
        std::size_t n = 0;
        while (T* const item = consume_unlocked()) {
            destroy(item);
            ++n;
        }
        return n;
    }

    trial::CountedSpinlock& consumer_lock() noexcept { return consumer_lock_; }
    const trial::LockCounts& producer_counts() const noexcept { return producer_lock_.counts(); }
    const trial::LockCounts& consumer_counts() const noexcept { return consumer_lock_.counts(); }

  private:
    void discard_one() noexcept {
        ++head_;
        if (head_ - tail_ >= zero_every_ || head_ == size_) zero_tail();
        if (head_ == size_) head_ = tail_ = 0;
    }

    // Backwards, so that the producer, who waits for the lowest slot, leaves the line alone until
    // all of it is free.
    void zero_tail() noexcept {
        for (std::size_t i = head_; i > tail_; --i) {
            slots_[i - 1].store(nullptr, std::memory_order_release);
        }
        tail_ = head_;
    }

    const std::size_t size_;
    const std::unique_ptr<std::atomic<T*>[]> slots_;
    std::size_t zero_every_ = 1;
    alignas(64) std::size_t producer_ = 0;  // guarded by producer_lock_
    trial::CountedSpinlock producer_lock_;
    alignas(64) std::size_t head_ = 0;  // next to consume; guarded by consumer_lock_
    std::size_t tail_ = 0;              // first consumed slot that is not yet handed back
    trial::CountedSpinlock consumer_lock_;
};

}  // namespace vsb::engine::vhost_net_rx
