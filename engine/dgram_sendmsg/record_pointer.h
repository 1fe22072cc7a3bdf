#pragma once
// An immutable record behind a pointer that readers load without a lock and writers replace:
// rcu_dereference() and rcu_replace_pointer(). Grace decides when a replaced record is freed:
// GracePeriods, or in a test something that is wrong on purpose.

#include <atomic>
#include <memory>

namespace vsb::engine::dgram_sendmsg {

template <class Record, class Grace>
class RecordPointer {
  public:
    // `grace` must outlive this.
    RecordPointer(Grace& grace, std::unique_ptr<const Record> first) noexcept
        : grace_(grace), current_(first.release()) {}
    // No reader may be left.
    ~RecordPointer() { delete current_.load(std::memory_order_seq_cst); }
    RecordPointer(const RecordPointer&) = delete;
    RecordPointer& operator=(const RecordPointer&) = delete;

    // Never null. Valid until the reader leaves the read section it is in.
    const Record* load() const noexcept { return current_.load(std::memory_order_seq_cst); }

    // One writer at a time.
    void replace(std::unique_ptr<const Record> next) noexcept {
        const Record* const old = current_.exchange(next.release(), std::memory_order_seq_cst);
        grace_.retire(const_cast<Record*>(old),
                      [](void* memory) { delete static_cast<const Record*>(memory); });
    }

  private:
    Grace& grace_;
    alignas(64) std::atomic<const Record*> current_;
};

}  // namespace vsb::engine::dgram_sendmsg
